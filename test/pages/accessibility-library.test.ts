/** axe-core finds nothing in the windows of knowledge bases, prompts, artifacts, folders and links, nor beside them. */
import t, { type Test } from 'tap';
import { startServer } from '../server.ts';
import { bringAxe, testAccessible, testFocusSeen } from './accessible.ts';
import { dropFiles, openBrowser, openPage, register, whyNoBrowser } from './browser.ts';

t.setTimeout(180_000);

const CONVERSATIONS = '/api/v1/edge/conversations';
const answer = 'So it is: $x^2$.\n\n```html\n<title>Clock</title><h1>Tick</h1>\n```\n';

t.test('accessibility of the library', { skip: whyNoBrowser() }, async (t) => {
  const models = {
    'tiny-chat': { arch: 'llama' },
    'tiny-rival': { arch: 'llama', seed: 7 },
    'tiny-embed': { arch: 'bert' },
  } as const;
  const server = await startServer(t, { models });
  const browser = await openBrowser(t);
  const { page, context, faults } = await openPage(browser, server.url, { reducedMotion: 'reduce' });
  page.setDefaultTimeout(60_000);
  await bringAxe(context);
  await register(page);
  const dialog = page.getByRole('dialog');
  const inEachTheme = (t: Test, name: string): Promise<void> => testAccessible(t, page, name);
  const openFromMenu = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: 'ada' }).click();
    await page.getByRole('menuitem', { name, exact: true }).click();
  };
  await page.request.post(CONVERSATIONS, { data: { id: 'c', title: 'Clocks', folder: 'Work' } });
  for (const [role, content] of [
    ['user', 'Draw a clock'],
    ['assistant', answer],
  ])
    await page.request.post(`${CONVERSATIONS}/messages`, { data: { conversation_id: 'c', role, content } });
  await page.request.post('/api/v1/edge/prompts', { data: { title: 'Haiku', content: 'Write a haiku' } });
  await page.request.post('/api/v1/edge/prompts/shared', { data: { title: 'Style', content: 'Be brief' } });
  const text = 'The lighthouse of Karvo stands at the northern sea.';
  await page.request.post('/api/v1/vector/ingest', { data: { tenant: 'default', namespace: 'town', source: 'town.txt', text } });

  await t.test('an artifact beside its conversation, and a folder', async (t) => {
    await page.goto('/chat#c=c');
    await page.reload();
    await page.locator('.formula .katex').waitFor();
    await page.getByRole('button', { name: /^Work/ }).click();
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.frameLocator('iframe.sandbox').getByRole('heading', { name: 'Tick' }).waitFor();
    await inEachTheme(t, 'an artifact');
    await testFocusSeen(t, page, 'an artifact', '.artifact-panel');
    await page.locator('.artifact-panel').focus();
    const ring = await page.locator('.artifact-panel').evaluate((panel) => getComputedStyle(panel).outlineStyle);
    t.equal(ring, 'solid', 'the panel, too');
    await page.getByRole('tab', { name: 'Code' }).click();
    await page.locator('.artifact-code .code-block').waitFor();
    await inEachTheme(t, 'its code');
    await page.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByText('Kept among').waitFor();
    await page.getByRole('complementary').getByRole('button', { name: 'Close' }).click();
  });

  await t.test('windows', async (t) => {
    await openFromMenu('Artifacts');
    await dialog.getByText('Versions: 1').waitFor();
    await inEachTheme(t, 'artifacts');
    await page.keyboard.press('Escape');
    await openFromMenu('Prompt library');
    await dialog.getByText('Haiku', { exact: true }).waitFor();
    await inEachTheme(t, 'prompts');
    await dialog.getByRole('button', { name: 'New prompt' }).click();
    await inEachTheme(t, 'a new prompt');
    await page.keyboard.press('Escape');
    await dialog.getByText('Haiku', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await openFromMenu('Knowledge bases');
    await dialog.getByRole('switch', { name: 'town' }).waitFor();
    await inEachTheme(t, 'knowledge bases');
    await dialog.getByRole('button', { name: 'Documents town' }).click();
    await dialog.getByText('town.txt').waitFor();
    await dropFiles(page, [{ name: 'short.txt', content: 'short' }], '.drop-field');
    await dialog
      .getByRole('alert')
      .getByText(/20 characters/)
      .waitFor();
    await inEachTheme(t, 'documents');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Actions for Clocks' }).click();
    await page.getByRole('menuitem', { name: 'Move to a folder' }).click();
    await dialog.getByLabel('New folder').waitFor();
    await inEachTheme(t, 'a choice of folders');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Actions for Work' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await dialog.getByLabel('Name', { exact: true }).waitFor();
    await inEachTheme(t, 'a folder that is renamed');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Actions for Clocks' }).click();
    await page.getByRole('menu').waitFor();
    await inEachTheme(t, 'the menu of a conversation');
    // The window was narrower meanwhile, and the menu stands where it was then.
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Actions for Clocks' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await dialog.waitFor();
    await inEachTheme(t, 'a conversation that is deleted');
    await page.keyboard.press('Escape');
    await page.getByRole('main').getByRole('button', { name: 'Share' }).click();
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    await dialog.locator('.shares code').waitFor();
    await inEachTheme(t, 'links');
    await page.keyboard.press('Escape');
  });

  await t.test('a conversation that somebody shared', async (t) => {
    const { share } = await (await page.request.post(`${CONVERSATIONS}/share`, { data: { id: 'c' } })).json();
    await page.goto(`/chat#s=${share}`);
    await page.locator('.shared-bar').waitFor();
    await inEachTheme(t, 'a shared conversation');
  });

  await t.test('attached files, two answers, and a message that waits', async (t) => {
    await page.getByRole('button', { name: 'New chat' }).first().click();
    await dropFiles(page, [
      { name: 'town.txt', content: text },
      { name: 'photo.png', type: 'image/png', content: 'x' },
    ]);
    await page.locator('.tray').getByText('indexed', { exact: true }).waitFor();
    await inEachTheme(t, 'attached files');
    await page.getByRole('button', { name: 'Instructions and parameters' }).click();
    await page.getByLabel('Longest answer').fill('10');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Compare with a second model' }).click();
    await page.getByRole('menuitemradio', { name: 'tiny-rival' }).waitFor();
    await inEachTheme(t, 'the choice of a second model');
    await page.getByRole('menuitemradio', { name: 'tiny-rival' }).click();
    await page.getByLabel('Message', { exact: true }).fill('Which?');
    await page.keyboard.press('Enter');
    for (const side of [0, 1]) await page.locator('.compared-side').nth(side).locator('.facts').waitFor();
    await inEachTheme(t, 'two answers');
    await context.setOffline(true);
    await page.getByLabel('Message', { exact: true }).fill('Later');
    await page.keyboard.press('Enter');
    await page.locator('.unsent').waitFor();
    await inEachTheme(t, 'a message that waits');
    await context.setOffline(false);
    await page.locator('.unsent').waitFor({ state: 'detached' });
  });

  t.strictSame(faults, []);
});
