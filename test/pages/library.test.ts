/** Conversations in folders, archived, shared and copied, imported; the prompt library. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { writeZip } from '../../ts/server/extraction/test-support/zip-writer.ts';
import { startServer } from '../server.ts';
import { openAccount, openBrowser, openPage, register, whyNoBrowser } from './browser.ts';

t.setTimeout(120_000);

const CONVERSATIONS = '/api/v1/edge/conversations';

t.test('what a reader keeps', { skip: whyNoBrowser() }, async (t) => {
  const server = await startServer(t);
  const browser = await openBrowser(t);
  const { page, faults } = await openPage(browser, server.url, { permissions: ['clipboard-read', 'clipboard-write'] });
  const dialog = page.getByRole('dialog');
  const link = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true });
  const choose = async (title: string, action: string): Promise<void> => {
    await page.getByRole('button', { name: `Actions for ${title}`, exact: true }).click();
    await page.getByRole('menuitem', { name: action, exact: true }).click();
  };
  await register(page);
  for (const title of ['Harbour', 'Meadow', 'Mountain']) {
    await page.request.post(CONVERSATIONS, { data: { id: title.toLowerCase(), title } });
    for (const [role, content] of [
      ['user', `What of the ${title}?`],
      ['assistant', `The **${title}** is old.`],
    ])
      await page.request.post(`${CONVERSATIONS}/messages`, { data: { conversation_id: title.toLowerCase(), role, content } });
  }
  await page.reload();

  await t.test('a conversation is moved into a folder, which is renamed and dissolved', async (t) => {
    await choose('Harbour', 'Move to a folder');
    await dialog.getByLabel('New folder').fill('Sea');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const folder = page.getByRole('button', { name: 'Sea 1' });
    await folder.waitFor();
    t.equal(await link('Harbour').count(), 0, 'a folder is closed at first');
    await folder.click();
    await link('Harbour').waitFor();
    await choose('Meadow', 'Move to a folder');
    await dialog.getByRole('button', { name: 'Sea', exact: true }).click();
    await page.getByRole('button', { name: 'Sea 2' }).waitFor();
    await choose('Sea', 'Rename');
    await dialog.getByLabel('Name').fill('Coast');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Coast 2' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Coast 2' }).waitFor();
    await choose('Coast', 'Dissolve folder');
    await link('Harbour').waitFor();
    t.equal(await page.locator('.folder').count(), 0);
  });

  await t.test('a conversation is pinned and archived, found among the archived, and brought back', async (t) => {
    await choose('Meadow', 'Pin');
    await page.getByRole('region', { name: 'Pinned' }).getByRole('link', { name: 'Meadow' }).waitFor();
    await choose('Harbour', 'Archive');
    await link('Harbour').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('archived');
    await page.getByRole('option', { name: 'Archived conversations' }).click();
    await link('Harbour').waitFor();
    t.equal(await link('Meadow').count(), 0);
    await choose('Harbour', 'Bring back');
    await page.getByRole('button', { name: 'Back to the conversations' }).click();
    await link('Harbour').waitFor();
    t.pass();
  });

  await t.test(
    'a pinned conversation is listed however old it is, and one that was erased elsewhere goes when the page is looked at',
    async (t) => {
      const page60 = await (await page.request.get(`${CONVERSATIONS}?limit=60`)).json();
      await page.route(`**${CONVERSATIONS}?*limit=60*`, (route) => {
        const others = page60.data.filter(({ id }: { id: string }) => id !== 'meadow');
        return route.fulfill({ json: { data: others, next: 'more' } });
      });
      await page.reload();
      await page.getByRole('region', { name: 'Pinned' }).getByRole('link', { name: 'Meadow' }).waitFor();
      await page.unroute(`**${CONVERSATIONS}?*limit=60*`);
      await page.request.post(CONVERSATIONS, { data: { id: 'valley', title: 'Valley' } });
      await page.reload();
      await link('Valley').click();
      await page.getByRole('heading', { level: 1, name: 'Valley' }).waitFor();
      await page.request.delete(`${CONVERSATIONS}?id=valley`);
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
      await link('Valley').waitFor({ state: 'detached' });
      await page.getByRole('heading', { name: /Hello, ada/ }).waitFor();
      t.equal(await link('Harbour').count(), 1);
    },
  );

  await t.test('a hit of the search leads to its message, on its branch and far above the end', async (t) => {
    const data = { conversation_id: 'harbour', content: '' };
    const first = (await (await page.request.get(`${CONVERSATIONS}/messages?id=harbour&limit=1`)).json()).data[0];
    for (let i = 0; i < 100; i++)
      await page.request.post(`${CONVERSATIONS}/messages`, {
        data: { ...data, role: i % 2 === 0 ? 'user' : 'assistant', content: i === 10 ? 'A zeppelin passes.' : `Line ${i}` },
      });
    const branch = { ...data, role: 'assistant', content: 'A schooner passes.', parent_id: first.id };
    await page.request.post(`${CONVERSATIONS}/messages`, { data: branch });
    for (const [word, text] of [
      ['zeppelin', 'A zeppelin passes.'],
      ['schooner', 'A schooner passes.'],
    ] as const) {
      await page.getByLabel('Search conversations').fill(word);
      await page.locator('.hit a', { hasText: text }).click();
      await page.waitForFunction((wanted) => {
        const message = [...document.querySelectorAll('.message')].find((each) => each.textContent?.includes(wanted));
        const { top = -1 } = message?.getBoundingClientRect() ?? {};
        return top >= 0 && top < innerHeight;
      }, text);
    }
    await page.getByLabel('Search conversations').fill('');
    t.pass();
  });

  await t.test('a conversation is shared by link inside the tenant, copied by its reader, and taken back', async (t) => {
    await link('Mountain').click();
    await page.getByText('The Mountain is old.').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Share' }).click();
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    const address = (await dialog.locator('.shares code').textContent()) ?? '';
    await page.request.post(`${CONVERSATIONS}/messages`, {
      data: { conversation_id: 'mountain', role: 'user', content: 'Said later' },
    });
    const reader = await openAccount(page, browser, server.url, { username: 'vera', role: 'viewer' });
    await reader.page.goto(address);
    await reader.page.getByText('The Mountain is old.').waitFor();
    t.equal(await reader.page.getByText('Said later').count(), 0);
    t.equal(await reader.page.getByLabel('Message', { exact: true }).count(), 0, 'it cannot be written on');
    await reader.page.getByRole('button', { name: 'Keep a copy' }).click();
    await reader.page.getByLabel('Message', { exact: true }).waitFor();
    t.match(reader.page.url(), /#c=/);
    t.equal(await reader.page.locator('.message').count(), 2);
    await dialog.getByRole('button', { name: 'Stop sharing' }).click();
    await dialog.locator('.shares code').waitFor({ state: 'detached' });
    await reader.page.goto(address);
    await reader.page
      .getByRole('alert')
      .getByText(/taken back or erased/)
      .waitFor();
    t.strictSame(reader.faults, []);
    await reader.context.close();
    await page.keyboard.press('Escape');
  });

  await t.test('prompts of one’s own and of the tenant are written, inserted, made instructions, and deleted', async (t) => {
    const composer = page.getByLabel('Message', { exact: true });
    await composer.fill('');
    await composer.press('/');
    await dialog.getByText('No prompts yet').waitFor();
    for (const [title, isShared] of [
      ['Haiku', false],
      ['House style', true],
    ] as const) {
      await dialog.getByRole('button', { name: 'New prompt' }).click();
      await dialog.getByLabel('Name').fill(title);
      await dialog.getByLabel('Text').fill(`Follow ${title}.`);
      if (isShared) await dialog.getByRole('switch').check();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByText(title, { exact: true }).waitFor();
    }
    await dialog.getByLabel('Search prompts').fill('haiku');
    t.equal(await dialog.locator('.prompts li').count(), 1);
    await dialog.getByRole('button', { name: 'Insert' }).click();
    t.equal(await composer.inputValue(), 'Follow Haiku.');
    await composer.fill('');
    await composer.press('/');
    await dialog.locator('li', { hasText: 'House style' }).getByRole('button', { name: 'Use as instructions' }).click();
    const instructions = async (): Promise<string> => {
      await page.getByRole('button', { name: 'Instructions and parameters' }).click();
      const text = await dialog.getByLabel('Instructions', { exact: true }).inputValue();
      await page.keyboard.press('Escape');
      return text;
    };
    t.equal(await instructions(), 'Follow House style.');
    await page.getByRole('button', { name: 'New chat' }).first().click();
    t.equal(await instructions(), '', 'they are this conversation’s alone');
    await composer.press('/');
    await dialog.getByRole('button', { name: 'Delete Haiku' }).click();
    await page.getByRole('dialog', { name: 'Delete' }).getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText('Haiku', { exact: true }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    const reader = await openAccount(page, browser, server.url, { username: 'otto', role: 'viewer' });
    await reader.page.getByLabel('Message', { exact: true }).press('/');
    await reader.page.getByText('House style', { exact: true }).waitFor();
    t.equal(await reader.page.getByRole('button', { name: 'Delete House style' }).count(), 0, 'developers change the tenant’s');
    await reader.context.close();
  });

  await t.test('exports of ChatGPT and of Open WebUI are imported', async (t) => {
    const folder = t.testdir();
    const choose = async (name: string, content: string | Buffer): Promise<void> => {
      writeFileSync(join(folder, name), content);
      const chooser = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: 'ada' }).click();
      await page.getByRole('menuitem', { name: 'Import conversations' }).click();
      await (await chooser).setFiles(join(folder, name));
    };
    await choose('export.zip', 'PK\x03\x04...');
    await page.getByText('No file conversations.json can be read in this archive').waitFor();
    await choose('strange.json', JSON.stringify([{ what: 'is this' }]));
    await dialog.getByText('0 imported, 0 were there already, 1 could not be read').waitFor();
    await dialog.getByText(/^Conversation 1 of the file: .*none of the formats/).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    const archive = writeZip([
      { name: 'user.json', data: '{}' },
      { name: 'conversations.json', data: JSON.stringify(chatGpt) },
    ]);
    const files = { 'chatgpt.zip': archive, 'open-webui.json': JSON.stringify(openWebUi) };
    for (const [name, content] of Object.entries(files)) {
      await choose(name, content);
      await page.getByText('1 imported, 0 were there already').first().waitFor();
    }
    await link('From ChatGPT').click();
    await page.getByText('Tea is a drink.').waitFor();
    await link('From Open WebUI').click();
    await page.getByText('Coffee is a drink.').waitFor();
    t.pass();
  });

  t.strictSame(faults, [], 'nothing went wrong in the page, and nothing left the server');
});

const said = (role: string, text: string) => ({
  author: { role },
  content: { content_type: 'text', parts: [text] },
  create_time: 1.7e9,
});
const chatGpt = [
  {
    id: 'cg',
    title: 'From ChatGPT',
    create_time: 1.7e9,
    current_node: 'b',
    mapping: {
      a: { id: 'a', parent: null, children: ['b'], message: said('user', 'What is tea?') },
      b: { id: 'b', parent: 'a', children: [], message: said('assistant', 'Tea is a drink.') },
    },
  },
];
const openWebUi = [
  {
    id: 'ow',
    title: 'From Open WebUI',
    chat: {
      title: 'From Open WebUI',
      history: {
        currentId: 'n',
        messages: {
          m: { id: 'm', parentId: null, childrenIds: ['n'], role: 'user', content: 'What is coffee?', timestamp: 1_700_000_000 },
          n: {
            id: 'n',
            parentId: 'm',
            childrenIds: [],
            role: 'assistant',
            content: 'Coffee is a drink.',
            timestamp: 1_700_000_001,
          },
        },
      },
    },
  },
];
