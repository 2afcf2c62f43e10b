/**
 * A person who never saw it: from /chat to an account, a PDF, a cited answer and the page it came from, and to a key that works; and what it
 * takes from an empty node to the first answers, counted.
 */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { randomModel } from '../../models/random/fixture.ts';
import { type Behaviour, BrokenServer, sound } from '../../ts/server/domains/inference/library/test-support/broken-server.ts';
import { wrap, writePdf } from '../../ts/server/extraction/test-support/pdf-writer.ts';
import { post } from '../http.ts';
import { startServer } from '../server.ts';
import { administrator, ask, dropFiles, openAccount, openBrowser, openPage, register, whyNoBrowser } from './browser.ts';

t.setTimeout(300_000);

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

t.test(
  'three acts lead to a quoted answer over a dropped file, and three to the first words of a model',
  { skip: whyNoBrowser() },
  async (t) => {
    // A random model says of itself that it is a demonstration: under another name nothing reads it.
    const whole = readFileSync(await randomModel({ arch: 'llama' }), 'latin1');
    const bytes = Buffer.from(whole.replace('svc.demonstration', 'svc.test.of.pages'), 'latin1');
    /** Sends a half and then nothing. */
    const stalled: Behaviour = (_request, response) => {
      response.writeHead(200, { 'content-length': bytes.length, etag: '"v1"' });
      response.write(bytes.subarray(0, bytes.length / 2));
    };
    const hub = await BrokenServer.start(sound(bytes), stalled);
    t.teardown(() => hub.stop());
    const env = { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '', SVC_MODELS_MIRROR: hub.base.href };
    const server = await startServer(t, { models: {}, env });
    const browser = await openBrowser(t);
    const { page, faults } = await openPage(browser, server.url);
    page.setDefaultTimeout(60_000);
    // The files of the catalogue are pinned by their hashes: what the hub of this test has is offered in the place of the first.
    const pulled = 'owner/repo:Pulled.gguf';
    await page.context().route('**/api/v1/models/catalogue', async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as { data: { name: string; is_first: boolean; license: string }[] };
      const first = json.data.find((model) => model.is_first);
      t.match(first, { name: 'smollm2-135m-instruct', license: 'Apache-2.0' });
      if (first !== undefined) first.name = pulled;
      await route.fulfill({ response, json });
    });
    let nActs = 0;
    const act = async (work: Promise<unknown>): Promise<void> => {
      nActs += 1;
      await work;
    };
    const message = page.getByLabel('Message', { exact: true });
    const offers = page.getByRole('region', { name: 'Models that talk, for this machine' });
    const isWhole = () => page.locator('.answer:not([aria-busy]) .message-bar').waitFor();

    await t.test('a quotation of a dropped file', async (t) => {
      await page.goto('/chat');
      await act(dropFiles(page, [town]));
      await page.locator('.tray .file-chip').getByText('indexed', { exact: true }).waitFor();
      await act(message.fill('Who is the keeper of the lighthouse of Karvo?'));
      await act(page.keyboard.press('Enter'));
      await isWhole();
      t.equal(
        (await page.locator('.answer .prose').textContent())?.trim(),
        'From the documents: “The keeper of the lighthouse of Karvo is Mira Doll.” 1',
      );
      t.equal(nActs, 3);
    });

    await t.test('what is offered has its size, license and use, shows how far it is, and can be cancelled', async (t) => {
      await page.getByRole('button', { name: 'New chat' }).first().click();
      await offers.waitFor();
      t.match(await offers.getByRole('listitem').first().textContent(), /93\.8 MiB · Apache-2\.0.*holds a conversation/);
      t.ok((await offers.getByRole('listitem').count()) >= 1);
      await offers.getByRole('button', { name: `Fetch ${pulled}` }).click();
      const progress = offers.getByRole('progressbar', { name: pulled });
      await progress.waitFor();
      await page.waitForFunction(() => Number(document.querySelector('[role="progressbar"]')?.ariaValueNow) > 0);
      await offers.getByRole('button', { name: 'Cancel' }).click();
      await progress.waitFor({ state: 'detached' });
    });

    await t.test('the first words of a model that was one press away, without a reload', async (t) => {
      nActs = 0;
      await act(offers.getByRole('button', { name: `Fetch ${pulled}` }).click());
      await page.getByRole('button', { name: 'pulled', exact: true }).waitFor();
      await offers.waitFor({ state: 'detached' });
      await act(message.fill('Hello!'));
      await act(page.keyboard.press('Enter'));
      await page.locator('.answer .prose').getByText(/\S/).first().waitFor();
      // A random model talks on to the end of its context.
      await page.getByRole('button', { name: 'Stop' }).click();
      await isWhole();
      t.match(await page.locator('.answer .facts').textContent(), /^pulled · /);
      t.equal(nActs, 3);
    });
    t.strictSame(faults, [], 'nothing went wrong in the page, and nothing left the server');
  },
);

t.test('who may fetch no model reads who can', { skip: whyNoBrowser() }, async (t) => {
  const server = await startServer(t, { models: {}, env: { SVC_MODELS_SHIPPED: 'true' } });
  const browser = await openBrowser(t);
  const { page } = await openPage(browser, server.url);
  await register(page);
  await page.getByRole('button', { name: 'Fetch smollm2-135m-instruct' }).waitFor();
  const { page: other } = await openAccount(page, browser, server.url, { username: 'vic', role: 'developer' });
  await other.getByText('An administrator can fetch a model that talks.').waitFor();
  t.equal(await other.getByRole('button', { name: 'Fetch smollm2-135m-instruct' }).count(), 0);
});
