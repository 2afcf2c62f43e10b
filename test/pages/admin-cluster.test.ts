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

  await t.test('it is made the primary, and commits that it lacks are lost only if the reader says so', async (t) => {
    const sent: unknown[] = [];
    // Whether it lacks commits is a matter of moments; what the nodes then do has a test of its own.
    await page.route('**/api/v1/cluster/storage/*/promote', async (route) => {
      const body = route.request().postDataJSON() as { force: boolean };
      sent.push(body);
      const detail = 'The standby has the commits up to 7, and the primary said that it had 9.';
      if (body.force) await route.fulfill({ json: { commit: 7 } });
      else await route.fulfill({ status: 409, json: { error: 'replica_behind', detail } });
    });
    for (const answer of ['Cancel', 'Lose those commits']) {
      await choose('Make it the primary');
      // The next question comes in its place, under the same name.
      await dialog.getByRole('button', { name: 'Make it the primary', exact: true }).click();
      await dialog.getByText('up to 7, and the primary said that it had 9').waitFor();
      await testAccessible(t, page, 'commits that are missing');
      await confirm(page, 'Make it the primary', answer);
    }
    t.strictSame(sent, [{ force: false }, { force: false }, { force: true }]);
  });

  await t.test('copies of its database and models over several nodes are listed', async (t) => {
    const copy = { node: null, commit: null, lag_commits: null, synced_at: null, problem: null };
    const problem = 'The role of database.url may not read it.';
    const replicas = [
      { ...copy, name: 'pg-near', state: 'ok', lag_seconds: 0 },
      { ...copy, name: 'pg-far', state: 'behind', lag_seconds: 240, problem },
    ];
    const split = { kind: 'openai', base_url: 'http://127.0.0.1:1/v1', models: [], enabled: true, key_present: true };
    const detail = 'the node gpu-b does not answer';
    const backends = [
      { ...split, id: 'split-huge', serving_state: 'backend_unhealthy', serving_state_reason: { code: 'x', detail } },
      { ...split, id: 'split-large', serving_state: 'ok', serving_state_reason: null },
      { ...split, id: 'acme', serving_state: 'ok', serving_state_reason: null },
    ];
    await page.route('**/api/v1/cluster/storage', (route) =>
      route.fulfill({ json: { database: 'postgres', commit: null, replicas } }),
    );
    await page.route('**/api/v1/cloud/backends', (route) => route.fulfill({ json: { data: backends } }));
    const cells = async (label: string) =>
      (await page.getByRole('region', { name: label }).getByRole('row').allInnerTexts())
        .slice(1)
        .map((row) => row.split(/\s*[\t\n]\s*/));
    await page.getByText('pg-far').waitFor();
    t.strictSame(await cells('Replicas of the database'), [
      ['pg-near', 'up to date'],
      ['pg-far', 'behind', '4 min', problem],
    ]);
    t.strictSame(await cells('Models over several nodes'), [
      ['huge', 'does not work', detail],
      ['large', 'works', '–'],
    ]);
    await testAccessible(t, page, 'copies and split models');
    await page.unrouteAll();
    await page.getByText('pg-far').waitFor({ state: 'detached' });
  });

  await t.test('it is removed', async () => {
    await choose('Remove');
    await confirm(page, 'Remove', 'Remove');
    await row.waitFor({ state: 'detached' });
    await page.getByText('1 of 1').waitFor();
  });
  t.strictSame(faults, []);
});
