/** Debian's chromium for tests of the pages. A request that leaves the server fails the test. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';
import { chromiumOptions, SHARED_BROWSER } from '../test-support/chromium.ts';

const areBuilt = existsSync(join(import.meta.dirname, '../../build/web/chat.html'));

/** Why tests of the pages are skipped, or false. */
export function whyNoBrowser(): string | false {
  if (chromiumOptions === undefined) return 'there is no chromium here (Debian: apt install chromium)';
  return areBuilt ? false : 'the pages are not built: node scripts/build.mjs --web';
}

export async function openBrowser(t: Test): Promise<Browser> {
  const shared = process.env[SHARED_BROWSER];
  const browser = shared === undefined ? await chromium.launch(chromiumOptions) : await chromium.connect(shared);
  // A shared one loses what this test opened, and goes on.
  t.teardown(() => browser.close());
  return browser;
}

interface WatchedPage {
  page: Page;
  context: BrowserContext;
  /** What went wrong in the page by itself: errors, refused loads, requests to elsewhere. Expected to stay empty. */
  faults: string[];
}

/** A page of its own profile, in English unless asked otherwise. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1280, height: 800 }, baseURL: url, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(45_000);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const { url: source } = message.location();
    // A test that takes the connection away sees the browser complain of it.
    const isExpected = /status of (400|401|403|404|409|422)|ERR_INTERNET_DISCONNECTED/.test(message.text());
    if (message.type() === 'error' && !isExpected) faults.push(`console: ${message.text()} (${source})`);
  });
  page.on('request', (request) => {
    const target = request.url();
    if (!target.startsWith(`${url}/`) && !/^(data|blob):/.test(target)) faults.push(`left the server: ${target}`);
  });
  return { page, context, faults };
}

export const administrator = { username: 'ada', password: 'correct horse battery' };

/** Makes the first account through the form; the page ends in the chat. */
export async function register(page: Page): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('Name', { exact: true }).fill(administrator.username);
  await page.getByLabel('Password', { exact: true }).fill(administrator.password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.waitForURL('**/chat');
  await page.getByLabel('Message', { exact: true }).waitFor();
}

/** A page of another account of the tenant, which the page's administrator makes. */
export async function openAccount(
  administrating: Page,
  browser: Browser,
  url: string,
  { username, role }: { username: string; role: string },
): Promise<WatchedPage> {
  const password = 'another horse battery';
  await administrating.request.post('/api/v1/identity/users', { data: { username, password, role } });
  const watched = await openPage(browser, url);
  const { page } = watched;
  await page.goto('/login');
  await page.getByLabel('Name or email').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/chat');
  await page.getByLabel('Message', { exact: true }).waitFor();
  return watched;
}

/** Asks and waits until the answer is whole. */
export async function ask(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
  await page.getByText(text, { exact: true }).and(page.locator('.bubble')).last().waitFor();
  await page.locator('.answer[aria-busy]').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Send' }).waitFor();
}

/** Opens a screen of the console and waits until it shows what it loads. */
export async function openScreen(page: Page, id: string, title: string): Promise<void> {
  await page.goto(`/admin#${id}`);
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
  await page.locator('main [role="status"].spinner').waitFor({ state: 'detached' });
}

/** What a page does when it is drawn again, or has another size, has been done. */
export async function effectsRun(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let i = 0; i < 3; i++) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  });
}

/** Answers the question before something that cannot be undone. */
export async function confirm(page: Page, title: string, action: string): Promise<void> {
  const question = page.getByRole('dialog', { name: title });
  await question.getByRole('button', { name: action, exact: true }).click();
  await question.waitFor({ state: 'detached' });
}

/** Of the account that the page is signed in as, for requests beside the page. */
export async function bearerOf(context: BrowserContext): Promise<{ authorization: string }> {
  const [cookie] = await context.cookies();
  return { authorization: `Bearer ${cookie?.value}` };
}

interface GivenFile {
  name: string;
  type?: string;
  content: Buffer | string;
}

/** As if they were dragged from the desktop onto an element, or onto the page. */
export async function dropFiles(page: Page, files: readonly GivenFile[], selector = 'body'): Promise<void> {
  const given = files.map(({ name, type = '', content }) => ({ name, type, base64: Buffer.from(content).toString('base64') }));
  const transfer = await page.evaluateHandle((all) => {
    const data = new DataTransfer();
    for (const { name, type, base64 } of all) {
      const bytes = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
      data.items.add(new File([bytes], name, { type }));
    }
    return data;
  }, given);
  await page.dispatchEvent(selector, 'dragover', { dataTransfer: transfer });
  await page.dispatchEvent(selector, 'drop', { dataTransfer: transfer });
}

/** The words behind `#` of all screens of the console, as its own list has them. */
export function consoleScreens(): string[] {
  const list = readFileSync(join(import.meta.dirname, '../../ts/web/admin/screens.ts'), 'utf8');
  const ids = [...list.matchAll(/\{\s*title: '(\w+)',(?:\s*id: '(\w+)',)?/g)].map(([, title = '', id = title]) => id);
  if (ids.length < 30) throw new Error(`the list of screens is read as ${ids.join(', ')}`);
  return ids;
}
