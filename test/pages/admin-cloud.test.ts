/** Backends of providers and their prices in the console, and where a model is in the chat. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { freePort } from '../child-server.ts';
import { openAiDialect } from '../providers/openai.ts';
import { startProvider } from '../providers/provider-server.ts';
import { startServer } from '../server.ts';
import { bearerOf, confirm, openBrowser, openPage, openScreen, register, whyNoBrowser } from './browser.ts';

t.setTimeout(240_000);

t.test('a provider is added, checked, switched off and deleted', { skip: whyNoBrowser() }, async (t) => {
  const provider = await startProvider(t, openAiDialect);
  const { url } = await startServer(t, { models: {}, env: { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1' } });
  const { page, faults } = await openPage(await openBrowser(t), url);
  await register(page);
  await openScreen(page, 'backends', 'Backends');
  await page.getByText('No backends').waitFor();
  await page.getByRole('button', { name: 'Add a provider' }).click();
  await page.getByLabel('Name').fill('far');
  await page.getByLabel('Address').fill(`${provider.origin}/v1`);
  await page.getByLabel('API key').fill('sk-planted-0123456789');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('works', { exact: true }).waitFor();
  t.notMatch(await page.content(), /planted/);
  await openScreen(page, 'prices', 'Prices');
  await page.getByRole('cell', { name: '0.4 USD' }).first().waitFor();
  await page.getByRole('button', { name: 'Set a price' }).click();
  await page.getByLabel('Name').fill('model-a');
  await page.getByLabel('Input', { exact: true }).fill('3.21');
  await page.getByLabel('Output', { exact: true }).fill('6.54');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('cell', { name: '3.21 USD' }).waitFor();
  await page.getByRole('button', { name: /model-a/ }).click();
  await page.getByRole('menuitem', { name: 'Change price' }).click();
  await page.getByLabel('Input', { exact: true }).fill('7.89');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('cell', { name: '7.89 USD' }).waitFor();
  const listed = await page.evaluate(async () => (await fetch('/v1/models')).text());
  t.match(listed, /7\.89/, 'and the model costs it from then on');
  await page.getByRole('button', { name: /model-a/ }).click();
  await page.getByRole('menuitem', { name: 'Delete price' }).click();
  await confirm(page, 'Delete price', 'Delete');
  await page.getByRole('cell', { name: '7.89 USD' }).waitFor({ state: 'detached' });
  await page.goto('/chat');
  await page.locator('.model-picker button').first().click();
  await page.getByText('at far').first().waitFor();
  await openScreen(page, 'backends', 'Backends');
  await page.getByRole('button', { name: /far/ }).first().click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await confirm(page, 'Delete backend', 'Delete');
  await page.getByText('No backends').waitFor();
  t.strictSame(faults, []);
});

t.test('backends of a node that is lost are taken over, and get their keys again', { skip: whyNoBrowser() }, async (t) => {
  const provider = await startProvider(t, openAiDialect);
  const folder = t.testdir();
  const port = await freePort();
  const start = () => startServer(t, { models: {}, folder, port, env: { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1' } });
  const lost = await start();
  const { page, context, faults } = await openPage(await openBrowser(t), lost.url);
  await register(page);
  const data = { id: 'far', kind: 'openai', base_url: `${provider.origin}/v1`, key: 'sk-planted-0123456789' };
  const headers = await bearerOf(context);
  t.equal((await page.request.post('/api/v1/cloud/backends', { data, headers })).status(), 201);
  // A page that is open would complain of the server that is away.
  await page.goto('about:blank');
  await lost.stop();
  // A database that another node has had, and no key of that node: so a restored machine finds it.
  const nodeFile = join(folder, 'data', 'node.json');
  const { id, ...node } = JSON.parse(readFileSync(nodeFile, 'utf8')) as { id: string };
  writeFileSync(nodeFile, JSON.stringify({ ...node, id: '0b5e7f2a-1c1f-4b5e-9d53-5f2f1d0c7a11' }));
  rmSync(join(folder, 'data', 'sealing.key'));
  await start();

  await openScreen(page, 'backends', 'Backends');
  await page.getByText('No backends').waitFor();
  const elsewhere = page.getByRole('region', { name: 'Backends of other nodes' }).getByRole('row').filter({ hasText: 'far' });
  await elsewhere.getByText(id).waitFor();
  await elsewhere.getByText('lost').waitFor();
  await elsewhere.getByRole('button', { name: 'Take over' }).click();
  await confirm(page, 'Take over', 'Take over');
  await elsewhere.waitFor({ state: 'detached' });
  const row = page.getByRole('row').filter({ hasText: 'far' });
  await row.getByText('without a key').waitFor();

  await row.getByRole('button').click();
  await page.getByRole('menuitem', { name: 'Give it a key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Key of far' });
  await dialog.getByLabel('API key').fill('sk-another-0123456789');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await row.getByText('without a key').waitFor({ state: 'detached' });
  await row.getByText('works', { exact: true }).waitFor();
  t.notMatch(await page.content(), /sk-another/);
  t.equal(provider.asked.at(-1)?.headers.authorization, 'Bearer sk-another-0123456789');
  t.strictSame(faults, []);
});
