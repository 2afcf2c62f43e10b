/** A person who never saw it: from /chat to an account, a PDF, a cited answer and the page it came from, and to a key that works. */
import t from 'tap';
import { wrap, writePdf } from '../../ts/server/extraction/test-support/pdf-writer.ts';
import { post } from '../http.ts';
import { startServer } from '../server.ts';
import { administrator, ask, dropFiles, openBrowser, openPage, whyNoBrowser } from './browser.ts';

t.setTimeout(120_000);

const pages = [
  'The town of Karvo lies at the northern sea. It was founded by fishermen in the year 1204.',
  'The keeper of the lighthouse of Karvo is Mira Doll. She lights the lamp every evening.',
];
const town = { name: 'town.pdf', type: 'application/pdf', content: writePdf(pages.map((text) => wrap(text, 60, 60, 400).texts)) };

t.test('a first visit, by what the pages show alone', { skip: whyNoBrowser() }, async (t) => {
  const server = await startServer(t, { models: {}, env: { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '' } });
  const browser = await openBrowser(t);
  const { page, faults } = await openPage(browser, server.url);
  page.setDefaultTimeout(60_000);
  const dialog = page.getByRole('dialog');

  await page.goto('/chat');
  await page.getByRole('button', { name: 'No accounts yet' }).click();
  await page.getByRole('menuitem', { name: 'Sign in' }).click();
  await page.getByLabel('Name', { exact: true }).fill(administrator.username);
  await page.getByLabel('Password', { exact: true }).fill(administrator.password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: /Hello, ada/ }).waitFor();

  await dropFiles(page, [town]);
  await page.locator('.tray .file-chip').getByText('indexed', { exact: true }).waitFor();
  await ask(page, 'Who is the keeper of the lighthouse of Karvo?');
  t.match(await page.locator('.answer .prose').textContent(), /Mira Doll/);
  await page.locator('.answer .citation-chip').first().click();
  await page.getByRole('dialog', { name: 'Source 1: town.pdf' }).waitFor();
  await dialog.getByText(/page 2/).waitFor();
  t.match(await dialog.locator('.passage mark').textContent(), /Mira Doll/);
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'ada' }).click();
  await page.getByRole('menuitem', { name: 'Console' }).click();
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'New key' }).click();
  await dialog.getByLabel('Name', { exact: true }).fill('first');
  await dialog.getByRole('button', { name: 'Create' }).click();
  const key = (await page.getByTestId('secret').textContent()) ?? '';
  const body = { model: 'svc-chat-tiny', messages: [{ role: 'user', content: 'Hello!' }] };
  const url = `${server.url}/v1/chat/completions`;
  t.equal((await post(url, body)).status, 401, 'without a key nothing is answered');
  t.match(await post(url, body, { authorization: `Bearer ${key}` }), {
    status: 200,
    json: { model: 'svc-chat-tiny', choices: [{ message: { role: 'assistant', content: /\w/ } }] },
  });
  t.strictSame(faults, [], 'nothing went wrong in the page, and nothing left the server');
});
