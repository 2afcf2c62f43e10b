/** From a dropped PDF to a cited answer and the page it came from, in a real browser with the models that ship. */
import t from 'tap';
import { wrap, writePdf } from '../../ts/server/extraction/test-support/pdf-writer.ts';
import { startServer } from '../server.ts';
import { ask, dropFiles, openAccount, openBrowser, openPage, register, whyNoBrowser } from './browser.ts';

t.setTimeout(120_000);

const pages = [
  'The town of Karvo lies at the northern sea. It was founded by fishermen in the year 1204.',
  'The keeper of the lighthouse of Karvo is Mira Doll. She lights the lamp every evening.',
  'The market of Karvo is held on Tuesdays. Farmers of the valley sell apples and cheese there.',
];
const town = { name: 'town.pdf', type: 'application/pdf', content: writePdf(pages.map((text) => wrap(text, 60, 60, 400).texts)) };
const scan = { name: 'scan.pdf', type: 'application/pdf', content: writePdf([[]], { hasPicture: true }) };
const letter = {
  name: 'letter.rtf',
  type: 'application/rtf',
  content: '{\\rtf1\\ansi A letter to the keeper of the lighthouse.}',
};
const school = { name: 'school.txt', type: 'text/plain', content: 'The school of Karvo has ninety pupils and a garden.' };

t.test('knowledge bases in the chat', { skip: whyNoBrowser() }, async (t) => {
  const server = await startServer(t, { models: {}, env: { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '' } });
  const browser = await openBrowser(t);
  const { page, faults } = await openPage(browser, server.url);
  page.setDefaultTimeout(60_000);
  const dialog = page.getByRole('dialog');
  await register(page);

  await t.test('a PDF that is dropped onto the page is indexed, and what is not taken says why', async (t) => {
    await dropFiles(page, [town, scan, letter]);
    const tray = page.locator('.tray');
    await tray.locator('.file-chip', { hasText: 'town.pdf' }).getByText('indexed', { exact: true }).waitFor();
    const refused = tray.locator('.file-chip.refused', { hasText: 'scan.pdf' });
    await refused.waitFor();
    t.match(await refused.textContent(), /no text layer|OCR/);
    const stored = tray.locator('.file-chip', { hasText: 'letter.rtf' });
    await stored.getByText(/not indexed/).waitFor();
    await tray.getByText('Only you can use these files, in this chat.').waitFor();
    const { data } = await (await page.request.get('/api/v1/edge/conversations')).json();
    t.strictSame(data, [], 'no list has a conversation in which nothing was said');
    await refused.getByRole('button', { name: 'Remove scan.pdf' }).click();
    t.equal(await refused.count(), 0);
  });

  await t.test('the answer cites the document, and its number opens the page with the passage marked', async (t) => {
    await ask(page, 'Who is the keeper of the lighthouse of Karvo?');
    t.match(await page.locator('.question .message-files').textContent(), /town\.pdf.*letter\.rtf/s);
    const unsearched = page.locator('.answer .unindexed');
    t.match(await unsearched.textContent(), /Not searched.*: 1.*letter\.rtf/s, 'what no search finds is named');
    await page.reload();
    t.match(await unsearched.textContent(), /letter\.rtf/, 'it is stored with the answer');
    await page.locator('.answer .citation-chip').first().click();
    await page.getByRole('dialog', { name: /Source 1: town\.pdf/ }).waitFor();
    await dialog.getByText(/page [123]/).waitFor();
    const passage = dialog.locator('.passage');
    t.match(await passage.locator('mark').textContent(), /Mira Doll/);
    await page.keyboard.press('Escape');
  });

  await t.test('what a cited passage does not say is marked where it stands, and said below', async (t) => {
    const content = 'In 1204 a mill came, and in **1204** Mira Doll [1]. 1204 again.';
    const start = content.lastIndexOf('1204', 40);
    const citation = { n: 1, document_id: 'd', source: 'town.pdf', text: 'Mira Doll', start: 0, end: 9, score: 0.9 };
    const unsupported = [{ text: '1204', start, end: start + 4 }, { text: 'nowhere', start: 0, end: 7 }, { start: 'x' }, null];
    const frame = {
      choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }],
      citations: [{ ...citation, unsupported }],
    };
    const body = `data: ${JSON.stringify(frame)}\n\ndata: [DONE]\n\n`;
    await page.route('**/v1/chat/completions', (route) => route.fulfill({ status: 200, contentType: 'text/event-stream', body }));
    await page.getByRole('button', { name: 'New chat' }).first().click();
    await ask(page, 'When did the mill come?');
    const mark = page.locator('.answer mark.unsupported');
    t.strictSame(await mark.allTextContents(), ['1204 (not in source 1)']);
    t.equal(await mark.evaluate((element) => element.parentElement?.tagName), 'STRONG', 'the second one of three');
    await page.locator('.answer').getByText('Not in the cited passages: “1204”, “nowhere”. Check it.').waitFor();
    await page.unroute('**/v1/chat/completions');
  });

  await t.test('whether the model goes on behind “nothing was found” is a switch, which the account keeps', async (t) => {
    const sent: unknown[] = [];
    await page.route('**/v1/chat/completions', async (route) => {
      sent.push((route.request().postDataJSON() as Record<string, unknown>)['knowledge_fallback']);
      await route.fulfill({ status: 200, contentType: 'text/event-stream', body: 'data: [DONE]\n\n' });
    });
    await page.request.put('/api/v1/users/me/settings', { data: { theme: 'dark' } });
    const ownKnowledge = page.getByRole('switch', { name: 'Let the model answer by itself where the documents say nothing' });
    const open = () => page.getByRole('button', { name: 'Knowledge bases' }).click();
    await ask(page, 'One');
    await open();
    t.equal(await ownKnowledge.isChecked(), false);
    const written = page.waitForResponse((response) => response.request().method() === 'PUT');
    await ownKnowledge.check();
    await written;
    await page.reload();
    await open();
    t.equal(await ownKnowledge.isChecked(), true, 'it is the account’s');
    await page.keyboard.press('Escape');
    await ask(page, 'Two');
    t.strictSame(sent, [undefined, 'model']);
    const settings = () => page.request.get('/api/v1/users/me/settings').then((response) => response.json());
    t.strictSame(await settings(), { theme: 'dark', knowledge_fallback: 'model' });
    await open();
    const back = page.waitForResponse((response) => response.request().method() === 'PUT');
    await ownKnowledge.uncheck();
    await back;
    t.match(await settings(), { knowledge_fallback: 'none' });
    await page.keyboard.press('Escape');
    await page.unroute('**/v1/chat/completions');
  });

  await t.test('the menu of models says how each answers from documents', async (t) => {
    await page.getByRole('button', { name: 'svc-chat-tiny' }).click();
    t.match(await page.getByRole('menuitemradio', { name: /svc-chat-tiny/ }).textContent(), /quotes your documents/);
    await page.keyboard.press('Escape');
  });

  await t.test('a question that does not go out keeps its files: one that waits, and one that is refused', async (t) => {
    const composer = page.getByLabel('Message', { exact: true });
    const chip = page.locator('.tray .file-chip', { hasText: 'school.txt' });
    await page.route('**/v1/chat/completions', (route) =>
      route.fulfill({ status: 200, contentType: 'text/event-stream', body: 'data: [DONE]\n\n' }),
    );
    await page.getByRole('button', { name: 'New chat' }).first().click();
    await ask(page, 'Begin without files');
    await dropFiles(page, [school]);
    await chip.getByText('indexed', { exact: true }).waitFor();
    await page.route('**/api/v1/edge/conversations/messages', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 409, contentType: 'application/json', body: '{"error":"busy","detail":"Not now."}' })
        : route.continue(),
    );
    await composer.fill('How many pupils?');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Not now.').waitFor();
    await chip.waitFor();
    t.equal(await composer.inputValue(), 'How many pupils?');
    await page.unroute('**/api/v1/edge/conversations/messages');
    await page.context().setOffline(true);
    await composer.press('Enter');
    await page.locator('.unsent').waitFor();
    t.equal(await chip.count(), 0);
    await page.context().setOffline(false);
    await page.locator('.question .message-files', { hasText: 'school.txt' }).waitFor();
    const { data } = await (await page.request.get('/api/v1/edge/conversations?limit=1')).json();
    t.match(data, [{ title: 'Begin without files' }]);
    const files = await (await page.request.get(`/api/v1/edge/conversations/files?id=${data[0].id}`)).json();
    t.match(files.data, [{ source: 'school.txt' }], 'the file is the conversation’s');
    await page.waitForFunction(() => localStorage.getItem('svc.outbox') === null);
    await page.unroute('**/v1/chat/completions');
  });

  await t.test('a large file is sent again where the connection broke, and indexed in the background', async (t) => {
    await page.getByRole('button', { name: 'New chat' }).first().click();
    let nTries = 0;
    const path = '**/api/v1/edge/conversations/files?*';
    await page.route(path, async (route) => {
      nTries++;
      await (nTries === 1 ? route.abort('connectionreset') : route.continue());
    });
    const padding = `<!-- ${'x'.repeat(4_400_000)} -->`;
    const large = `<!doctype html><title>Bakery</title><p>The bakery of Karvo has a green roof.</p>${padding}`;
    await dropFiles(page, [{ name: 'large.html', type: 'text/html', content: large }]);
    const chip = page.locator('.file-chip', { hasText: 'large.html' });
    await chip.getByText('indexed', { exact: true }).waitFor();
    t.equal(nTries, 2);
    t.match(faults.splice(0), [/ERR_CONNECTION_RESET/], 'the break is all that went wrong');
    await chip.getByRole('button', { name: 'Remove large.html' }).click();
    await page.unroute(path);
  });

  await t.test('a file of a chat goes into a knowledge base when its owner says so', async (t) => {
    await page.getByRole('link', { name: 'Who is the keeper' }).click();
    await page.locator('.question .file-chip', { hasText: 'town.pdf' }).getByRole('button').click();
    const question = page.getByRole('dialog', { name: 'Keep town.pdf in a knowledge base' });
    await question.getByText('Everyone of your tenant can search it there.').waitFor();
    await question.getByLabel('Knowledge base').selectOption('ada-files');
    await question.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByText('town.pdf is in “ada-files” now.').waitFor();
    await question.waitFor({ state: 'detached' });
    const { data } = await (await page.request.get('/api/v1/vector/namespaces/default/ada-files/documents')).json();
    t.match(data, [{ source: 'town.pdf' }]);
  });

  await t.test('a viewer drops files too, before the page knows the models, and may put them nowhere else', async (t) => {
    const { page: other } = await openAccount(page, browser, server.url, { username: 'vic', role: 'viewer' });
    const models = Promise.withResolvers<void>();
    await other.route('**/v1/models', async (route) => {
      await models.promise;
      await route.continue();
    });
    await other.reload();
    await other.getByLabel('Message', { exact: true }).waitFor();
    await dropFiles(other, [school]);
    models.resolve();
    const chip = other.locator('.tray .file-chip', { hasText: 'school.txt' });
    await chip.getByText('indexed', { exact: true }).waitFor();
    t.equal(await chip.getByRole('button').count(), 1, 'it can be removed, and not be kept in a knowledge base');
    await ask(other, 'How many pupils has the school of Karvo?');
    t.match(await other.locator('.answer .prose').textContent(), /ninety/);
    t.notMatch(await (await page.request.get('/api/v1/vector/namespaces/default')).text(), /school|vic|conversation/);
    await other.context().close();
  });

  await t.test('bases are listed, made, filled by dropping, switched on and deleted', async (t) => {
    await page.getByRole('button', { name: 'Knowledge bases' }).click();
    t.equal(await dialog.getByRole('switch', { name: 'ada-files' }).isChecked(), false, 'a base is used where it is switched on');
    await dialog.getByLabel('New knowledge base').fill('town');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog', { name: 'town' }).waitFor();
    await dropFiles(page, [school, { name: 'short.txt', content: 'Too short.' }], '.drop-field');
    const row = dialog.locator('.drop-field li', { hasText: 'school.txt' });
    await row.getByText('indexed', { exact: true }).waitFor();
    await dialog
      .getByRole('alert')
      .getByText(/20 characters/)
      .waitFor();
    await dialog.getByRole('button', { name: 'Delete school.txt' }).waitFor();
    await dialog.getByRole('button', { name: 'Knowledge bases' }).click();
    await dialog.getByRole('switch', { name: 'town' }).check();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Knowledge bases' }).click();
    await dialog.getByRole('switch', { name: 'town' }).waitFor();
    await dialog.getByRole('button', { name: 'Documents town' }).click();
    await dialog.getByRole('button', { name: 'Delete school.txt' }).click();
    const question = page.getByRole('dialog', { name: 'Delete', exact: true });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    await dialog.getByRole('button', { name: 'Delete school.txt' }).click();
    await question.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText('No documents yet.').waitFor();
    await dialog.getByRole('button', { name: 'Knowledge bases' }).click();
    t.equal(await dialog.getByRole('switch', { name: 'town' }).isChecked(), true, 'the choice is kept with the conversation');
    await dialog.getByRole('button', { name: 'Delete town' }).click();
    await page.getByRole('dialog', { name: 'Delete' }).getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('switch', { name: 'town' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
  });

  await t.test('a message takes ten files', async (t) => {
    await page.getByRole('button', { name: 'New chat' }).first().click();
    const pictures = Array.from({ length: 12 }, (_, i) => ({ name: `${i}.png`, type: 'image/png', content: 'x' }));
    await dropFiles(page, pictures);
    await page.locator('.file-chip').nth(11).waitFor();
    t.equal(await page.locator('.file-chip', { hasText: 'up to 10 files' }).count(), 2);
    t.equal(await page.locator('.file-chip', { hasText: 'sees no pictures' }).count(), 10);
    for (let i = 0; i < 12; i++) await page.locator('.file-chip button').first().click();
    t.equal(await page.locator('.tray').count(), 0);
  });

  await t.test('a picture for a model that sees is scaled down, shown, and sent with the question', async (t) => {
    await page.route('**/v1/models', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { data: { capabilities: string[] }[] };
      for (const model of body.data) model.capabilities.push('vision');
      await route.fulfill({ response: answer, json: body });
    });
    let sent: { messages: { content: unknown }[] } | undefined;
    await page.route('**/v1/chat/completions', async (route) => {
      sent = route.request().postDataJSON();
      const frame = { choices: [{ index: 0, delta: { content: 'A red square.' }, finish_reason: 'stop' }] };
      await route.fulfill({
        status: 200,
        contentType: 'text/event-stream',
        body: `data: ${JSON.stringify(frame)}\n\ndata: [DONE]\n\n`,
      });
    });
    await page.goto('/chat');
    await page.reload();
    await page.getByLabel('Message', { exact: true }).waitFor();
    const base64 = await page.evaluate(async () => {
      const canvas = new OffscreenCanvas(3000, 1500);
      const context = canvas.getContext('2d');
      if (context === null) return '';
      for (let y = 0; y < 1500; y += 4) {
        context.fillStyle = `hsl(${(y * 7) % 360} 80% 50%)`;
        context.fillRect(0, y, 3000, 4);
      }
      const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
      return btoa(Array.from(bytes, (each) => String.fromCharCode(each)).join(''));
    });
    await dropFiles(page, [{ name: 'stripes.png', type: 'image/png', content: Buffer.from(base64, 'base64') }]);
    await page.locator('.file-chip img').waitFor();
    await ask(page, 'What is it?');
    t.match(sent?.messages.at(-1)?.content, [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: /^data:image\/jpeg;base64,/ } },
    ]);
    const width = await page
      .locator('.question .message-files img')
      .evaluate((image) => (image as HTMLImageElement).naturalWidth);
    t.ok(width > 200 && width <= 1280, `${width} pixels wide`);
    await page.reload();
    await page.locator('.question .message-files img').waitFor();
  });

  t.strictSame(faults, [], 'nothing went wrong in the page, and nothing left the server');
});
