/** axe-core finds nothing on any window of the console, in every theme; nothing is cut off at 320 pixels. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { post } from '../http.ts';
import { startServer } from '../server.ts';
import { bringAxe, testAccessible, testFocusSeen } from './accessible.ts';
import { bearerOf, openBrowser, openPage, openScreen, register, whyNoBrowser } from './browser.ts';

t.test('accessibility of the windows', { skip: whyNoBrowser() }, async (t) => {
  const folder = t.testdir({ passphrase: 'correct horse battery staple\n' });
  const server = await startServer(t, { folder, env: { SVC_BACKUP_PASSPHRASE_FILE: join(folder, 'passphrase') } });
  const browser = await openBrowser(t);
  const { page, context, faults } = await openPage(browser, server.url, { reducedMotion: 'reduce' });
  await bringAxe(context);
  const inEachTheme = (t: Test, name: string): Promise<void> => testAccessible(t, page, name);
  await register(page);

  await t.test('the windows of the console', async (t) => {
    const windows: [screen: string, open: () => Promise<void>][] = [
      ['keys', () => press('New key')],
      ['groups', () => press('New group')],
      ['groups', () => choose('Actions for Staff', 'Members')],
      ['quotas', () => press('New limit')],
      ['webhooks', () => press('New webhook')],
      ['webhooks', () => choose('Actions for https://example.com/hook', 'Deliveries')],
      ['models', () => press('Get a model')],
      [
        'models',
        async () => {
          await press('Get a model');
          await page.getByRole('tab', { name: 'Another model' }).click();
        },
      ],
      [
        'webhooks',
        async () => {
          await press('New webhook');
          await page.getByLabel('Address').fill('https://example.com/other');
          await page.getByRole('checkbox', { name: /jobs\.done/ }).check();
          await press('Save');
          await page.getByTestId('secret').waitFor();
        },
      ],
      ['models', () => choose('Actions for tiny-chat', 'Details')],
      ['models', () => choose('Actions for tiny-chat', 'Settings')],
      [
        'settings',
        async () => {
          await page.getByLabel('Search', { exact: true }).fill('inference.ctx');
          await press('Change inference.ctx');
        },
      ],
      ['users', () => press('New user')],
      ['users', () => choose('Actions for ada', 'API keys')],
      ['users', () => choose('Actions for ada', 'Reset password')],
      ['users', () => choose('Actions for ada', 'Delete')],
      ['invitations', () => press('New invitation')],
      ['tenants', () => press('New tenant')],
      ['backups', () => choose(/^Actions for \d+T/, 'Details')],
      ['jobs', () => page.getByRole('button', { name: 'Details of backup.create' }).click()],
      ['components', () => press('Question')],
      ['backups', () => press('Change the schedule')],
      ['backups', () => press('Change the destination')],
      [
        'audit',
        () =>
          page
            .getByRole('button', { name: /^Details of Entry/ })
            .first()
            .click(),
      ],
      ['provisioning', () => press('New SCIM token')],
      ['enforcement', async () => void (await page.getByLabel('Mode of this node').selectOption('enforce'))],
    ];
    const press = (name: string | RegExp): Promise<void> => page.getByRole('button', { name }).click();
    const choose = async (menu: string | RegExp, item: string): Promise<void> => {
      await press(menu);
      await page.getByRole('menuitem', { name: item }).click();
    };
    const bearer = await bearerOf(context);
    await post(`${server.url}/api/v1/identity/groups`, { name: 'Staff', grants: { models: ['tiny*'] } }, bearer);
    await post(`${server.url}/api/v1/webhooks`, { url: 'https://example.com/hook', events: ['jobs.done'] }, bearer);
    await openScreen(page, 'backups', 'Backups');
    await press('Back up now');
    await page.getByRole('rowheader', { name: /\d+T\d+Z/ }).waitFor();
    for (const [screen, open] of windows) {
      await page.goto('/admin#components');
      await page.goto(`/admin#${screen}`);
      await open();
      await page.getByRole('dialog').waitFor();
      await page.locator('dialog [role="status"].spinner').waitFor({ state: 'detached' });
      await inEachTheme(t, `a window of ${screen}`);
      await testFocusSeen(t, page, `a window of ${screen}`, 'dialog[open]');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });

  await t.test('the playground with an answer', async (t) => {
    await page.goto('/admin#playground');
    await page.getByLabel('Prompt').fill('Say something');
    await page.getByLabel('Longest answer').fill('8');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('toolbar').waitFor();
    await inEachTheme(t, 'an answer');
  });

  t.strictSame(faults, []);
});
