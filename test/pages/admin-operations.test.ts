/** The console's screens about the node: backups, license, health, jobs, the catalogue of models and the playground. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { chatModel, startServer } from '../server.ts';
import { confirm, openBrowser, openPage, openScreen, register, whyNoBrowser } from './browser.ts';

t.test('the node', { skip: whyNoBrowser() }, async (t) => {
  const folder = t.testdir({ passphrase: 'correct horse battery staple\n' });
  const server = await startServer(t, { folder, env: { SVC_BACKUP_PASSPHRASE_FILE: join(folder, 'passphrase') } });
  const browser = await openBrowser(t);
  const { page, faults } = await openPage(browser, server.url);
  await register(page);
  const dialog = page.getByRole('dialog');

  await t.test('a backup is made, verified and looked into, and the schedule changed', async (t) => {
    await openScreen(page, 'backups', 'Backups');
    await page.getByText('No backups yet').waitFor();
    await page.getByRole('button', { name: 'Back up now' }).click();
    const row = page.getByRole('row', { name: /encrypted/ });
    await row.waitFor();
    await row.getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Verify' }).click();
    await page.getByText(/was restored into a scratch folder and is whole/).waitFor();
    await row.getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Details' }).click();
    await dialog.getByText(/svc backup restore \d+T\d+Z-/).waitFor();
    await dialog.getByRole('rowheader', { name: 'node.json' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Change the schedule' }).click();
    await dialog.getByLabel('Hours between backups').fill('24');
    await dialog.getByLabel('How many are kept').fill('3');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/every 24 hours · next at/).waitFor();
    await page.getByRole('button', { name: 'Back to the settings' }).click();
    await page.getByText('none: backups are made by hand').waitFor();
    await page.getByRole('button', { name: 'Change the destination' }).click();
    await dialog.getByLabel('Folder').fill('not/absolute');
    await dialog.getByRole('button', { name: 'Save' }).click();
    t.match(await dialog.getByRole('alert').textContent(), /no absolute path/);
    await page.keyboard.press('Escape');
  });

  await t.test('a backup is restored after a question that says what is lost', async (t) => {
    await openScreen(page, 'backups', 'Backups');
    const asked: unknown[] = [];
    // The node would end for it, and nobody starts it again here: test/backup-restore-route.test.ts does.
    await page.route('**/api/v1/backup/restore', async (route) => {
      asked.push(route.request().postDataJSON());
      await route.fulfill({ status: 202, json: { job_id: 'j', backup: 'b', next: 'n' } });
    });
    const row = page.getByRole('row', { name: /encrypted/ });
    const choose = async (): Promise<void> => {
      await row.getByRole('button').click();
      await page.getByRole('menuitem', { name: 'Restore' }).click();
    };
    await choose();
    await dialog.getByText(/everything written since that backup is lost/).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await choose();
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('status').filter({ hasText: 'Begun' }).waitFor();
    t.strictSame(asked, [{ id: await row.locator('code').textContent(), confirm: true }]);
  });

  await t.test('jobs show what became of them', async (t) => {
    await openScreen(page, 'jobs', 'Jobs');
    await page.getByRole('button', { name: 'Details of backup.verify' }).click();
    await dialog.getByLabel('Result').waitFor();
    t.match(await dialog.getByLabel('Result').textContent(), /"files": \d+/);
    await page.keyboard.press('Escape');
  });

  await t.test('the license is shown, and a file that is none is refused with the reason', async (t) => {
    await openScreen(page, 'license', 'License');
    await page.getByText('evaluation', { exact: true }).first().waitFor();
    await page.getByLabel('License file').fill('{"format":"svc-license-1"}');
    await page.getByRole('button', { name: 'Install' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('License file').fill('no JSON');
    await page.getByRole('button', { name: 'Install' }).click();
    await page.getByRole('alert').getByText('This is no license file.').waitFor();
    const file = join(folder, 'forged.json');
    writeFileSync(file, JSON.stringify({ format: 'svc-license-1', key: 'none', terms: 'e30', signature: 'AAAA' }));
    await page.locator('input[type="file"]').setInputFiles(file);
    await page.getByRole('alert').waitFor();
    t.match(await page.getByRole('alert').textContent(), /\w{4}/);
  });

  await t.test('the node shows its modules, what was wrong, and asks before a role is switched off', async (t) => {
    await openScreen(page, 'roles', 'Node roles');
    await page.getByRole('row', { name: /^security runs/ }).waitFor();
    await page.getByText('Nothing went wrong since the node started').waitFor();
    const security = page.getByRole('row', { name: /^security (on|off|security)/ }).getByRole('switch');
    await security.click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page
      .getByRole('row', { name: /^security (on|off|security)/ })
      .getByRole('switch', { checked: true })
      .waitFor();
    await security.click();
    await confirm(page, 'Switch the role off?', 'Switch off');
    await page.getByRole('row', { name: /^security runs/ }).waitFor({ state: 'detached' });
    // A screen whose module is off is not offered.
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByRole('link', { name: 'Role enforcement' }).waitFor({ state: 'detached' });
    await openScreen(page, 'roles', 'Node roles');
    await security.click();
    await page.getByRole('row', { name: /^security runs/ }).waitFor();
    t.equal(await page.getByRole('link', { name: 'Role enforcement' }).count(), 0, 'until the console asks again');
  });

  await t.test('the catalogue says what fits on the disk, and a model shows its engine', async (t) => {
    await openScreen(page, 'models', 'Models');
    await page.getByRole('button', { name: 'Get a model' }).click();
    await dialog.getByRole('rowheader', { name: /smollm2-135m-instruct-q8_0/ }).waitFor();
    t.match(await dialog.getByText(/free for models/).textContent(), /\d [KMGT]iB free/);
    await dialog.getByLabel('Kind').selectOption('speech');
    await dialog.getByRole('rowheader', { name: /whisper-tiny/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: `Actions for ${chatModel}` }).click();
    await page.getByRole('menuitem', { name: 'Details' }).click();
    await dialog.getByText('KV cells').waitFor();
    await dialog.getByText(new RegExp(`${chatModel}\\.gguf`)).waitFor();
    await page.keyboard.press('Escape');
  });

  await t.test('a setting of one model is saved over that of all, and given up again', async (t) => {
    await openScreen(page, 'settings', 'Settings');
    await page
      .getByRole('row', { name: /^models / })
      .getByRole('link', { name: 'Models' })
      .click();
    await page.getByRole('button', { name: `Actions for ${chatModel}` }).click();
    await page.getByRole('menuitem', { name: 'Settings' }).click();
    const row = dialog.getByRole('row', { name: /^ctx / });
    await row.getByText('inference.ctx', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Change ctx' }).click();
    await page.getByRole('dialog', { name: `ctx of ${chatModel}` }).waitFor();
    await dialog.getByLabel('Value').fill('-1');
    await dialog.getByRole('button', { name: 'Save' }).click();
    t.match(await dialog.getByRole('alert').textContent(), /an integer from 0/);
    await dialog.getByLabel('Value').fill('512');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('after a restart').waitFor();
    t.match(await row.textContent(), /512/);
    await dialog.getByRole('switch', { name: 'Only its own' }).check();
    t.equal(await dialog.getByRole('row').count(), 2, 'the head and the one');
    const saved = await page.request.get('/api/v1/system/settings/models/other');
    t.match(
      ((await saved.json()) as { settings: { key: string }[] }).settings.find(({ key }) => key === 'models.other.ctx'),
      {
        is_saved: false,
      },
    );
    await dialog.getByRole('button', { name: 'Change ctx' }).click();
    await dialog.getByRole('button', { name: 'Forget' }).click();
    await dialog.getByText('Nothing is set for this model alone.').waitFor();
    await page.keyboard.press('Escape');
  });

  await t.test('the playground shows how likely each token was, also by keyboard', async (t) => {
    await openScreen(page, 'playground', 'Playground');
    await page.getByLabel('Prompt').fill('Say something');
    await page.getByLabel('Longest answer').fill('12');
    await page.getByRole('button', { name: 'Run' }).click();
    const tokens = page.getByRole('toolbar', { name: 'Tokens of the answer' }).getByRole('button');
    await tokens.first().waitFor();
    t.match(await tokens.first().getAttribute('aria-label'), /, \d+([.,]\d)? %$/);
    await tokens.first().focus();
    await page.keyboard.press('ArrowRight');
    t.equal(await tokens.nth(1).getAttribute('aria-pressed'), 'true');
    t.equal(await page.getByRole('region', { name: 'Alternatives' }).getByRole('row').count(), 6, 'five and the head');
  });

  t.strictSame(faults, []);
});
