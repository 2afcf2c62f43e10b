/** Backends of providers and their prices in the console, and where a model is in the chat. */
import t from 'tap';
import { openAiDialect } from '../providers/openai.ts';
import { startProvider } from '../providers/provider-server.ts';
import { startServer } from '../server.ts';
import { confirm, openBrowser, openPage, openScreen, register, whyNoBrowser } from './browser.ts';

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
