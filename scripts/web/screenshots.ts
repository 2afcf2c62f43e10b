// npm run screenshots: draws the pictures of the documents: the real pages, a real server, and what the model that ships answers about a document.
// With --all every page instead, in both themes and three widths, into build/screenshots, to be looked at.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { ChildServer, freePort } from '../../test/child-server.ts';
import { drawAllPages, fillConsole } from './all-pages.ts';

const root = join(import.meta.dirname, '../..');
const target = join(root, 'docs/screenshots');
const program = process.env['SVC_CHROMIUM'] ?? '/usr/bin/chromium';
const size = { width: 1280, height: 800 };
const maxBytes = 200_000;
const isAll = process.argv.includes('--all');

/** Pages of a document of our own words, and what is asked about it: the answers are those of the model that ships. */
const documentPages = [
  'The harbour of Karvo lies at the northern sea. The harbour master is Edda Voss. The quay is 340 metres long.',
  'The keeper of the lighthouse of Karvo is Mira Doll. She lights the lamp every evening. The tower is 41 metres high.',
  'The market of Karvo is held on Tuesdays. The fish hall of Karvo opens at 5:30.',
];
const questions = ['Who is the keeper of the lighthouse of Karvo?', 'Who is the harbour master of Karvo?'];

const folder = mkdtempSync(join(tmpdir(), 'svc-screenshots-'));
const url = `http://127.0.0.1:${await freePort()}`;
const server = await ChildServer.start({
  program: process.execPath,
  args: [join(root, 'ts/cli/svc.ts'), 'serve'],
  env: {
    ...process.env,
    SVC_LISTEN: url.slice('http://'.length),
    SVC_DATA_DIR: join(folder, 'data'),
    SVC_DATA_EMBEDDING_URL: '',
  },
  url,
  readyPath: '/readyz',
});
const browser = await chromium.launch({
  executablePath: program,
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
try {
  const context = await browser.newContext({ viewport: size, locale: 'en-US', baseURL: url, colorScheme: 'light' });
  const page = await context.newPage();
  const pictures = join(root, 'build/screenshots');
  if (isAll) await drawAllPages(page, pictures, { 'login-first': '/login' });
  await signUp(page);
  await fill(context);
  await page.reload();
  await attachDocument(context, page);
  for (const question of questions) await ask(page, question);
  await page.locator('.answer .citation-chip').first().waitFor();
  if (isAll) {
    await fillConsole(context);
    await drawAllPages(page, pictures);
  } else {
    await save(page, 'chat');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto('/admin#overview');
    await work(page);
    await save(page, 'admin');
  }
} finally {
  await browser.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function signUp(page: Page): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('Name', { exact: true }).fill('ada');
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.waitForURL('**/chat');
}

async function fill(context: BrowserContext): Promise<void> {
  const path = '/api/v1/edge/conversations';
  for (const title of ['Draft of the quarterly report', 'Regex for German postcodes', 'Why does nginx answer 499?'])
    await context.request.post(path, { data: { title } });
}

/** As a PDF that the browser prints. */
async function attachDocument(context: BrowserContext, page: Page): Promise<void> {
  const printed = await context.newPage();
  await printed.setContent(documentPages.map((text) => `<p style="break-after: page">${text}</p>`).join(''));
  const buffer = await printed.pdf({ format: 'A5' });
  await printed.close();
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  await (await chooser).setFiles({ name: 'karvo-harbour.pdf', mimeType: 'application/pdf', buffer });
  await page.locator('.tray .file-chip').getByText('indexed', { exact: true }).waitFor();
}

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(question);
  await page.keyboard.press('Enter');
  await page.locator('.bubble').filter({ hasText: question }).waitFor();
  await page.locator('.answer[aria-busy]').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Send' }).waitFor();
}

/** Something for the plots to show. */
async function work(page: Page): Promise<void> {
  const body = { model: 'svc-chat-tiny', messages: [{ role: 'user', content: 'Hello! What can you do?' }] };
  for (let round = 0; round < 12; round++) {
    await Promise.all(Array.from({ length: 1 + (round % 4) }, () => page.request.post('/v1/chat/completions', { data: body })));
    await page.waitForTimeout(1000);
  }
}

async function save(page: Page, name: string): Promise<void> {
  const path = join(target, `${name}.png`);
  await page.screenshot({ path });
  const { size: sizeBytes } = statSync(path);
  if (sizeBytes > maxBytes) throw new Error(`${path} has ${sizeBytes} bytes, more than ${maxBytes}`);
  console.log(`${path}: ${sizeBytes} bytes`);
}
