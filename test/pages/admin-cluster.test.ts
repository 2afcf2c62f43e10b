/** The console's screen of the cluster: a machine is added, has its roles switched, is brought up to date, drained and removed. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { freePort } from '../child-server.ts';
import { post } from '../http.ts';
import { startServer } from '../server.ts';
import { bringAxe, testAccessible } from './accessible.ts';
import { confirm, openBrowser, openPage, openScreen, register, whyNoBrowser } from './browser.ts';

t.test('a cluster is looked after', { skip: whyNoBrowser(), timeout: 240_000 }, async (t) => {
  const folder = t.testdir();
  const start = async (name: string, listen: string) =>
    await startServer(t, {
      models: {},
      folder: join(folder, name),
      env: {
        SVC_CLUSTER_LISTEN: listen,
        SVC_CLUSTER_HEARTBEAT_SECONDS: '1',
        SVC_CLUSTER_ENTRY_SECONDS: '30',
        SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1',
      },
    });
  const [ofHead, ofOther] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const head = await start('head', ofHead);
  const single = await start('other', ofOther);
  const { page, context, faults } = await openPage(await openBrowser(t), head.url);
  await bringAxe(context);
  await register(page);
  await openScreen(page, 'cluster', 'Cluster');
  const dialog = page.getByRole('dialog');

  await t.test('a machine is added by a token that is shown once', async (t) => {
    await page.getByText('1 of 1').waitFor();
    await page.getByRole('button', { name: 'Add a machine' }).click();
    await dialog.getByRole('checkbox', { name: /^data/ }).check();
    await dialog.getByRole('button', { name: 'Create' }).click();
    const shown = await dialog.getByTestId('secret').textContent();
    await testAccessible(t, page, 'the token');
    await page.keyboard.press('Escape');
    const [, token] = /^svc node join (svcj_[\w-]+)$/.exec(shown ?? '') ?? [];
    t.ok(token);
    t.equal((await post(`${single.url}/api/v1/cluster/join`, { token })).status, 200);
    while (single.running) await wait(50);
    await start('other', ofOther);
    await page.getByText('2 of 2').waitFor();
  });

  const row = page.getByRole('row').filter({ hasText: ofOther });
  const choose = async (action: string): Promise<void> => {
    await row.getByRole('button').click();
    await page.getByRole('menuitem', { name: action }).click();
  };

  await t.test('its copy of the data is brought up to date', async () => {
    await row.getByText('up to date').waitFor();
    await choose('Bring up to date');
    await page.getByRole('status').filter({ hasText: 'has taken the newest snapshot' }).waitFor();
    await testAccessible(t, page, 'the cluster');
  });

  await t.test('its roles are switched while it runs', async () => {
    await choose('Switch roles');
    await dialog.getByRole('switch', { name: 'media' }).click();
    await dialog.getByRole('switch', { name: 'media', checked: true, disabled: false }).waitFor();
    await testAccessible(t, page, 'the roles of a node');
    await page.keyboard.press('Escape');
    await row.getByText(/media/).waitFor();
    await choose('Switch roles');
    await dialog.getByRole('switch', { name: 'media' }).click();
    await confirm(page, 'Switch the role off?', 'Switch off');
    await dialog.getByRole('switch', { name: 'media', checked: false, disabled: false }).waitFor();
    await page.keyboard.press('Escape');
    await row.getByText(/media/).waitFor({ state: 'detached' });
  });

  await t.test('it is drained and takes work again', async () => {
    await choose('Drain');
    await confirm(page, 'Drain', 'Drain');
    await row.getByText('draining').waitFor();
    await page.getByText('1 of 2').waitFor();
    await choose('Take work again');
    await page.getByText('2 of 2').waitFor();
  });

  await t.test('it is removed', async () => {
    await choose('Remove');
    await confirm(page, 'Remove', 'Remove');
    await row.waitFor({ state: 'detached' });
    await page.getByText('1 of 1').waitFor();
  });
  t.strictSame(faults, []);
});
