/** The console in a real browser: an administrator makes an account and a key; who is none sees no console. */
import type { Locator, Route } from 'playwright-core';
import t from 'tap';
import { post } from '../http.ts';
import { startServer } from '../server.ts';
import { confirm, openAccount, openBrowser, openPage, register, whyNoBrowser } from './browser.ts';

t.test('the console', { skip: whyNoBrowser() }, async (t) => {
  const server = await startServer(t);
  const browser = await openBrowser(t);
  const { page, context, faults } = await openPage(browser, server.url);
  const viewer = { username: 'vera', password: 'another horse battery' };
  const open = async (screen: string, title: string): Promise<void> => {
    await page.goto(`/admin#${screen}`);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
  };

  await t.test('it loads before sign-in, and then asks for it', async (t) => {
    await register(page);
    const stranger = await openPage(browser, server.url);
    await stranger.page.goto('/admin#users');
    await stranger.page.getByRole('button', { name: 'Sign in' }).first().click();
    await stranger.page.waitForURL('**/login?next=%2Fadmin%23users');
    await stranger.context.close();
    t.strictSame(stranger.faults, []);
  });

  await t.test('the overview shows the node live', async (t) => {
    await open('overview', 'Overview');
    await page.getByText('running well').waitFor();
    await page.getByText(/process \d+/).waitFor();
    // They are drawn a frame later than the texts.
    await page.locator('.plot canvas').nth(6).waitFor();
    t.equal(await page.locator('.plot canvas').count(), 7);
    t.equal(await page.getByRole('region', { name: 'Incidents' }).count(), 0, 'nothing went wrong');
  });

  await t.test('the overview shows the memory of GPUs where there are some, and what went wrong', async (t) => {
    const label = 'device="GPU0",description="A card"';
    const gpu = (kind: string, bytes: number): string => `svc_inference_gpu_memory_bytes{${label},kind="${kind}"} ${bytes}\n`;
    await page.route('**/metrics', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: `${await response.text()}${gpu('total', 4 * 2 ** 30)}${gpu('used', 2 ** 30)}` });
    });
    const incident = { code: 'disk_full', detail: 'The disk is full.', remedy: 'Make room.', since: new Date(), ended_at: null };
    await page.route('**/api/v1/system/incidents', (route) => route.fulfill({ json: { incidents: [incident] } }));
    await page.goto('/chat');
    await open('overview', 'Overview');
    const plot = page.getByRole('region', { name: 'GPU memory' });
    await plot.getByText('in all 4 GiB').waitFor();
    t.match(await plot.textContent(), /used 1 GiB/);
    await page.getByRole('region', { name: 'Incidents' }).getByText('Make room.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  await t.test('the first steps name what is left to do, lead there, and are gone once all is done', async (t) => {
    const steps = page.getByRole('region', { name: 'First steps' });
    const left = (...names: string[]) =>
      page.waitForFunction(
        (expected) => [...document.querySelectorAll('.first-steps a')].map((link) => link.textContent).join() === expected,
        names.join(),
      );
    await left('Get a model', 'Make a key', 'Call the API with it');
    t.equal(await steps.getByText('(done)').count(), 1, 'the account; a model that talks nonsense is none');
    await steps.getByRole('link', { name: 'Make a key' }).click();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    const made = await page.request.post('/api/v1/identity/keys', { data: { name: 'first' } });
    const { id, api_key } = (await made.json()) as { id: string; api_key: string };
    await open('overview', 'Overview');
    await left('Get a model', 'Call the API with it');
    const chat = { model: 'tiny-chat', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 4 };
    t.equal((await post(`${server.url}/v1/chat/completions`, chat, { 'x-api-key': api_key })).status, 200);
    // What was used is counted a moment later.
    await page.waitForFunction(async (key) => {
      const answer = await fetch('/api/v1/metering/usage?by=key');
      return ((await answer.json()) as { data: { id: string }[] }).data.some((line) => line.id === key);
    }, id);
    await open('keys', 'API keys');
    await open('overview', 'Overview');
    await left('Get a model');
    await page.route(`${server.url}/v1/models`, async (route) => {
      const response = await route.fetch();
      const { data } = (await response.json()) as { data: { note?: string }[] };
      await route.fulfill({ response, json: { object: 'list', data: data.map(({ note: _, ...model }) => model) } });
    });
    await open('models', 'Models');
    await open('overview', 'Overview');
    await page.locator('.plot canvas').nth(6).waitFor();
    await steps.waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'wait' });
    t.equal((await page.request.delete(`/api/v1/identity/keys/${id}`)).status(), 204);
  });

  await t.test('an account is made, and a key for it that works', async (t) => {
    await open('users', 'Users');
    await page.getByRole('button', { name: 'New user' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill(viewer.username);
    await dialog.getByLabel('Password', { exact: true }).fill(viewer.password);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('rowheader', { name: viewer.username }).waitFor();
    await page.getByRole('button', { name: `Actions for ${viewer.username}` }).click();
    await page.getByRole('menuitem', { name: 'New key' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('script');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const key = (await page.getByTestId('secret').textContent()) ?? '';
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const answer = await fetch(`${server.url}/api/v1/auth/whoami`, { headers: { 'x-api-key': key } });
    t.match(await answer.json(), { kind: 'api_key', user: { username: viewer.username }, role: 'viewer' });
    t.notMatch(await page.content(), key, 'the key is shown once');
    await page.getByRole('button', { name: `Actions for ${viewer.username}` }).click();
    await page.getByRole('menuitem', { name: 'API keys' }).click();
    await dialog.getByRole('button', { name: 'Revoke script' }).click();
    await confirm(page, 'Revoke key', 'Revoke');
    await dialog.getByText('No keys yet').waitFor();
    await page.keyboard.press('Escape');
    t.equal((await fetch(`${server.url}/api/v1/auth/whoami`, { headers: { 'x-api-key': key } })).status, 401);
    await page.getByLabel('Search', { exact: true }).fill('VER');
    await page.getByRole('rowheader', { name: 'ada' }).waitFor({ state: 'detached' });
    t.equal(await page.getByRole('rowheader', { name: viewer.username }).count(), 1);
  });

  await t.test('a tenant is made, changed and deleted', async (t) => {
    await open('tenants', 'Tenants');
    await page.getByRole('button', { name: 'New tenant' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('ID').fill('acme');
    await dialog.getByLabel('Tokens a minute').fill('5000');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: '5,000' }).waitFor();
    const remove = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for acme' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
    };
    await remove();
    await dialog.getByText('acme has no accounts.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    const data = { username: 'zoe', role: 'viewer', tenant: 'acme' };
    t.equal((await page.request.post('/api/v1/identity/users', { data })).status(), 201);
    await remove();
    await dialog.getByText('acme is deleted with its accounts: 1.').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('rowheader', { name: 'acme' }).waitFor({ state: 'detached' });
  });

  const askToDelete = async (emptyTenant: string): Promise<Locator> => {
    await page.goto('/chat');
    await open('tenants', 'Tenants');
    await page.getByRole('button', { name: `Actions for ${emptyTenant}` }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`${emptyTenant} has no accounts.`).waitFor();
    return dialog;
  };

  await t.test('a tenant that gets an account while its end is asked about stays', async (t) => {
    await page.request.post('/api/v1/identity/tenants', { data: { id: 'late' } });
    const dialog = await askToDelete('late');
    await page.request.post('/api/v1/identity/users', { data: { username: 'yan', role: 'viewer', tenant: 'late' } });
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText(/The tenant late has 1 accounts/).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    t.equal(await page.getByRole('rowheader', { name: 'late' }).count(), 1);
  });

  await t.test('a tenant without accounts that keeps files is deleted after a second question', async (t) => {
    await page.request.post('/api/v1/identity/tenants', { data: { id: 'keeping' } });
    const password = 'a horse of keeping';
    const librarian = { username: 'kim', password, role: 'developer', tenant: 'keeping' };
    const { id } = await (await page.request.post('/api/v1/identity/users', { data: librarian })).json();
    const signedIn = await fetch(`${server.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'kim', password }),
    });
    const { token } = (await signedIn.json()) as { token: string };
    const form = new FormData();
    form.set('purpose', 'assistants');
    form.set('file', new Blob(['A text.']), 'text.txt');
    const made = await fetch(`${server.url}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: form,
    });
    t.ok(made.ok, await made.text());
    await page.request.delete(`/api/v1/identity/users/${id}`);
    const dialog = await askToDelete('keeping');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText(/The tenant keeping has what the module data keeps/).waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('rowheader', { name: 'keeping' }).waitFor({ state: 'detached' });
  });

  await t.test('an administrator is offered the roles that he may give', async (t) => {
    const admin = await openAccount(page, browser, server.url, { username: 'adam', role: 'admin' });
    await admin.page.goto('/admin#users');
    await admin.page.getByRole('button', { name: 'Actions for vera' }).click();
    t.strictSame(await admin.page.getByRole('menuitemradio').allTextContents(), ['viewer', 'developer', 'admin']);
    t.strictSame(admin.faults, []);
    await admin.context.close();
  });

  await t.test('an invitation is made, and its link leads to the form that takes it', async (t) => {
    await open('invitations', 'Invitations');
    await page.getByRole('button', { name: 'New invitation' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Note').fill('For Grace');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const link = (await page.getByTestId('secret').textContent()) ?? '';
    await dialog.getByRole('button', { name: 'Close' }).click();
    const guest = await openPage(browser, server.url);
    await guest.page.goto(link);
    await guest.page.getByText('You were invited').waitFor();
    await guest.page.getByLabel('Name', { exact: true }).fill('grace');
    await guest.page.getByLabel('Password', { exact: true }).fill('a third horse battery');
    await guest.page.getByRole('button', { name: 'Create account' }).click();
    await guest.page.waitForURL('**/chat');
    t.strictSame(guest.faults, []);
    await guest.context.close();
    await open('usage', 'Usage');
    await page.getByText('Nothing was used yet').or(page.getByRole('table')).first().waitFor();
  });

  await t.test('a model is unloaded and loaded again', async (t) => {
    await open('models', 'Models');
    const row = page.getByRole('row', { name: /tiny-chat/ });
    const choose = async (action: string, state: string): Promise<void> => {
      await row.getByRole('button').click();
      await page.getByRole('menuitem', { name: action, exact: true }).click();
      await row.getByText(state, { exact: true }).waitFor();
    };
    await choose('Unload', 'unloaded');
    await choose('Load', 'loaded');
    // The default model is kept from the start on.
    await choose('Allow unloading', 'loaded');
    await row.getByText('Kept in memory').waitFor({ state: 'detached' });
    await row.getByRole('button').click();
    t.equal(await page.getByRole('menuitem', { name: 'Allow unloading' }).count(), 0, 'it is one or the other');
    await page.getByRole('menuitem', { name: 'Keep in memory' }).click();
    await row.getByText('Kept in memory').waitFor();
  });

  await t.test('a model that cannot be fetched says why', async (t) => {
    await open('models', 'Models');
    await page.getByRole('button', { name: 'Get a model' }).click();
    await page.getByRole('tab', { name: 'Another model' }).click();
    await page.getByRole('dialog').getByLabel('Model', { exact: true }).fill('https://127.0.0.1:1/x.gguf');
    await page.getByRole('dialog').getByRole('button', { name: 'Fetch' }).click();
    await page.getByRole('alert').getByText('inside a private network').waitFor();
    await page.keyboard.press('Escape');
    t.pass();
  });

  await t.test('jobs, roles, settings and sessions are listed', async (t) => {
    await open('jobs', 'Jobs');
    await page
      .getByRole('row', { name: /inference\.\w+/ })
      .or(page.getByText('No jobs'))
      .first()
      .waitFor();
    await open('roles', 'Node roles');
    t.equal(
      await page
        .getByRole('row', { name: /^inference/ })
        .getByRole('switch')
        .isChecked(),
      true,
    );
    await open('settings', 'Settings');
    await page.getByLabel('Search').fill('data_dir');
    t.match(
      await page
        .getByRole('row', { name: /Folder|data_dir/ })
        .first()
        .textContent(),
      /SVC_DATA_DIR/,
    );
    const dialog = page.getByRole('dialog');
    await page.getByLabel('Search').fill('backup.passphrase_file');
    await page.getByRole('button', { name: 'Change backup.passphrase_file' }).click();
    await dialog.getByText('belongs to the operator of the machine').waitFor();
    await dialog.getByLabel('Value').fill('/etc/svc/pass');
    await dialog.getByRole('button', { name: 'Check' }).click();
    await dialog.getByText('backup.passphrase_file = "/etc/svc/pass"').waitFor();
    await dialog.getByText('SVC_BACKUP_PASSPHRASE_FILE=/etc/svc/pass').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Search').fill('backup.keep');
    await page.getByRole('button', { name: 'Change backup.keep' }).click();
    await dialog.getByLabel('Value').fill('many');
    await dialog.getByRole('button', { name: 'Save' }).click();
    t.match(await dialog.getByRole('alert').textContent(), /backup\.keep.*must be/);
    await dialog.getByLabel('Value').fill('7');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('row', { name: /backup\.keep/ })
      .getByText('after a restart')
      .waitFor();
    await page.getByRole('button', { name: 'Change backup.keep' }).click();
    t.equal(await dialog.getByLabel('Value').inputValue(), '7');
    await dialog.getByRole('button', { name: 'Forget what is saved' }).click();
    await page.getByText('after a restart').waitFor({ state: 'detached' });
    await open('log', 'Server log');
    await page.getByRole('cell', { name: /listening/ }).waitFor();
    await page.getByLabel('Least severity').selectOption('error');
    await page.getByText('No such lines').waitFor();
    await open('sessions', 'Sessions');
    await page.getByText('this one').waitFor();
    await open('keys', 'API keys');
    await page.getByText('No keys yet').waitFor();
  });

  await t.test('a list that renews itself shows what a server sends that takes longer than the interval', async (t) => {
    const other = await context.newPage();
    let asked = 0;
    await other.clock.install();
    const first = new Promise<Route>((resolve) => {
      void other.route('**/api/v1/system/jobs?*', (route) => {
        asked++;
        resolve(route);
      });
    });
    await other.goto('/admin#jobs');
    const route = await first;
    // Ten intervals.
    await other.clock.runFor(20_000);
    t.equal(asked, 1, 'no second question before the first is answered');
    await route.fulfill({ json: { jobs: [], next: null } });
    await other.getByText('No jobs').waitFor();
    await other.close();
  });

  await t.test('a screen whose script is gone says so, and the page can be loaded anew', async (t) => {
    const old = await openPage(browser, server.url, { storageState: await context.storageState() });
    const script = '**/assets/groups-*.js';
    await old.page.route(script, (route) => route.fulfill({ status: 404, body: '' }));
    await old.page.goto('/admin#groups');
    await old.page.getByRole('alert').getByText('could not be fetched').waitFor();
    await old.page.unroute(script);
    await old.page.getByRole('button', { name: 'Load the page anew' }).click();
    await old.page.getByText('No groups yet').waitFor();
    await old.context.close();
    t.strictSame(old.faults, []);
  });

  await t.test('the audit log names what was done, and verifies', async (t) => {
    await open('audit', 'Audit log');
    await page
      .getByRole('cell', { name: 'identity.user.create' })
      .or(page.getByRole('cell', { name: /user/ }))
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    t.match(await page.getByText(/All \d+ entries/).textContent(), /as they were written/);
  });

  await t.test('the pages are in German for who reads German', async (t) => {
    const german = await openPage(browser, server.url, { locale: 'de-DE', storageState: await context.storageState() });
    await german.page.goto('/admin#users');
    await german.page.getByRole('heading', { level: 1, name: 'Konten' }).waitFor();
    t.equal(await german.page.evaluate(() => document.documentElement.lang), 'de');
    await german.page.getByRole('row', { name: /vera/ }).getByText('Betrachter').waitFor();
    await german.page.goto('/admin#models');
    const model = german.page.getByRole('row', { name: /tiny-chat/ });
    await model.getByText('geladen', { exact: true }).waitFor();
    t.match(await model.textContent(), /Chat, Werkzeuge/);
    await german.context.close();
  });

  await t.test('a viewer sees no console, and the server refuses what it shows', async (t) => {
    const guest = await openPage(browser, server.url);
    await guest.page.goto('/login?next=/admin');
    await guest.page.getByLabel('Name or email').fill(viewer.username);
    await guest.page.getByLabel('Password', { exact: true }).fill('wrong');
    await guest.page.getByRole('button', { name: 'Sign in' }).click();
    await guest.page.getByText('Name or password is not right.').waitFor();
    await guest.page.getByLabel('Password', { exact: true }).fill(viewer.password);
    await guest.page.getByRole('button', { name: 'Sign in' }).click();
    await guest.page.waitForURL('**/admin');
    await guest.page.getByRole('link', { name: 'API keys' }).waitFor();
    for (const name of ['Overview', 'Models', 'Users', 'Tenants', 'Audit log', 'Settings'])
      t.equal(await guest.page.getByRole('link', { name }).count(), 0, name);
    await guest.page.goto('/admin#users');
    t.equal(await guest.page.getByRole('heading', { name: 'Users' }).count(), 0);
    const status = await guest.page.evaluate(async () => (await fetch('/api/v1/identity/users')).status);
    t.equal(status, 403);
    t.strictSame(guest.faults, []);
  });

  t.strictSame(faults, [], 'nothing went wrong in the page, and nothing left the server');
});
