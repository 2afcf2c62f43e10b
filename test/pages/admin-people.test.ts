/** The console's screens about people: groups with grants, quotas, usage. */
import { text } from 'node:stream/consumers';
import t from 'tap';
import { post } from '../http.ts';
import { chatModel, startServer } from '../server.ts';
import { bearerOf, confirm, openBrowser, openPage, openScreen, register, whyNoBrowser } from './browser.ts';

const NO_TOKENS = { prompt_tokens: 0, cached_tokens: 0, completion_tokens: 0, total_tokens: 0, seconds: 0 };

t.test('people', { skip: whyNoBrowser() }, async (t) => {
  const server = await startServer(t);
  const browser = await openBrowser(t);
  const { page, context, faults } = await openPage(browser, server.url);
  await register(page);
  const bearer = await bearerOf(context);
  const made = await post(
    `${server.url}/api/v1/identity/users`,
    { username: 'bob', password: 'correct horse battery', role: 'viewer' },
    bearer,
  );
  t.equal(made.status, 201);
  const bob = (await post(`${server.url}/api/v1/auth/login`, { username: 'bob', password: 'correct horse battery' })).json as {
    token: string;
  };
  const asBob = { authorization: `Bearer ${bob.token}` };
  const modelsOfBob = async (): Promise<string[]> => {
    const answer = await fetch(`${server.url}/v1/models`, { headers: asBob });
    return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
  };
  const dialog = page.getByRole('dialog');

  await t.test('a tenant lets models be used as groups grant them', async (t) => {
    await openScreen(page, 'tenants', 'Tenants');
    await page.getByRole('button', { name: 'Actions for default' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await dialog.getByLabel('Models only as groups grant them').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    t.strictSame(await modelsOfBob(), []);
  });

  await t.test('a group gets grants and a member by keyboard alone, and what it grants can be used', async (t) => {
    await openScreen(page, 'groups', 'Groups');
    await page.getByText('No groups yet').waitFor();
    await page.getByRole('button', { name: 'New group' }).focus();
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Name', { exact: true }).fill('Staff');
    await dialog.getByLabel('Role').selectOption('developer');
    await dialog.getByLabel('Models', { exact: true }).fill('tiny-*, other');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /Staff/ }).waitFor();
    await page.getByRole('button', { name: 'Actions for Staff' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Members' }).waitFor();
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Name', { exact: true }).fill('nobody');
    await page.keyboard.press('Enter');
    await dialog.getByText('There is no account nobody here.').waitFor();
    await dialog.getByLabel('Name', { exact: true }).fill('bob');
    await page.keyboard.press('Enter');
    await dialog.getByRole('listitem').filter({ hasText: 'bob' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('cell', { name: '1', exact: true }).waitFor();
    t.strictSame(await modelsOfBob(), [chatModel]);
  });

  await t.test('a member is taken out, and the group deleted after a question', async (t) => {
    await page.getByRole('button', { name: 'Actions for Staff' }).click();
    await page.getByRole('menuitem', { name: 'Members' }).click();
    await dialog.getByRole('button', { name: 'Remove bob' }).click();
    await dialog.getByText('Nobody is in this group yet').waitFor();
    await page.keyboard.press('Escape');
    t.strictSame(await modelsOfBob(), []);
    await page.getByRole('button', { name: 'Actions for Staff' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('row', { name: /Staff/ }).waitFor();
    await page.getByRole('button', { name: 'Actions for Staff' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await confirm(page, 'Delete group', 'Delete');
    await page.getByText('No groups yet').waitFor();
  });

  await t.test('a limit of an account holds, shows what is used of it, and is lifted', async (t) => {
    await fetch(`${server.url}/api/v1/identity/tenants/default`, {
      method: 'PATCH',
      headers: { ...bearer, 'content-type': 'application/json' },
      body: '{"model_access":"open"}',
    });
    await openScreen(page, 'quotas', 'Quotas');
    await page.getByText('No limits').waitFor();
    await page.getByRole('button', { name: 'New limit' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('bob');
    await dialog.getByLabel('Requests a minute').fill('1');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /bob/ }).getByText('0 / 1').waitFor();
    const chat = { model: chatModel, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 4 };
    t.equal((await post(`${server.url}/v1/chat/completions`, chat, asBob)).status, 200);
    t.match(await post(`${server.url}/v1/chat/completions`, chat, asBob), { status: 429 });
    await page.getByRole('row', { name: /bob/ }).getByText('1 / 1').waitFor();
    await page.getByRole('button', { name: 'Actions for bob' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await confirm(page, 'Remove the limits', 'Remove');
    await page.getByText('No limits').waitFor();
    t.equal((await post(`${server.url}/v1/chat/completions`, chat, asBob)).status, 200);
  });

  await t.test('a limit of a key shows what the key is called and whose it is', async (t) => {
    const key = (await post(`${server.url}/api/v1/identity/keys`, { name: 'script' }, asBob)).json as {
      id: string;
      api_key: string;
    };
    await openScreen(page, 'quotas', 'Quotas');
    await page.getByRole('button', { name: 'New limit' }).click();
    await dialog.getByLabel('For').selectOption({ label: 'Key' });
    await dialog.getByLabel('Id of the key').fill(key.id);
    await dialog.getByLabel('Requests a month').fill('10');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('rowheader', { name: 'script Key · bob' }).waitFor();
    const chat = { model: chatModel, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 4 };
    t.equal((await post(`${server.url}/v1/chat/completions`, chat, { 'x-api-key': key.api_key })).status, 200);
    t.equal((await page.request.delete(`/api/v1/identity/keys/${key.id}`)).status(), 204);
  });

  await t.test('an administrator sees who is signed in to another account, and ends it', async (t) => {
    const password = 'another horse battery';
    await post(`${server.url}/api/v1/identity/users`, { username: 'carl', password, role: 'viewer' }, bearer);
    const signIn = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'carl', password }),
    };
    const { token } = (await (await fetch(`${server.url}/api/v1/auth/login`, signIn)).json()) as { token: string };
    const isSignedIn = async (): Promise<boolean> =>
      (await fetch(`${server.url}/api/v1/auth/whoami`, { headers: { authorization: `Bearer ${token}` } })).ok;
    t.ok(await isSignedIn());
    await openScreen(page, 'sessions', 'Sessions');
    await page.getByText('this one').waitFor();
    await page.getByLabel('Account').selectOption('carl');
    await page.getByText('this one').waitFor({ state: 'detached' });
    await page.getByRole('row').nth(1).waitFor();
    await page.getByRole('button', { name: 'End all' }).click();
    await page.getByText('No sessions').waitFor();
    t.notOk(await isSignedIn());
  });

  await t.test('a long list is shown page by page, and the search finds what no page shows yet', async (t) => {
    const names = ['dora', 'emil', 'fred'];
    for (const username of names) await post(`${server.url}/api/v1/identity/users`, { username, role: 'viewer' }, bearer);
    const lists = (url: URL): boolean => url.pathname === '/api/v1/identity/users' && url.searchParams.has('limit');
    // As if a page held two.
    await page.route(lists, (route) =>
      route.continue({
        url: route
          .request()
          .url()
          .replace(/limit=\d+/, 'limit=2'),
      }),
    );
    await openScreen(page, 'users', 'Users');
    await page.getByText('2 shown').waitFor();
    t.equal(await page.getByRole('row').count(), 3, 'the head and a page');
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('4 shown').waitFor();
    await openScreen(page, 'groups', 'Groups');
    await openScreen(page, 'users', 'Users');
    await page.getByText('2 shown').waitFor();
    for (const name of names) {
      await page.getByLabel('Search', { exact: true }).fill(name);
      await page.getByRole('rowheader', { name }).waitFor();
    }
    t.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0);
    await page.unroute(lists);
  });

  await t.test('usage is plotted and listed by model and account, and saved as CSV', async (t) => {
    await openScreen(page, 'usage', 'Usage');
    await page.getByRole('row', { name: new RegExp(chatModel) }).waitFor();
    await page.locator('.plot canvas').nth(1).waitFor();
    t.equal(await page.locator('.plot canvas').count(), 2);
    await page.getByLabel('By', { exact: true }).selectOption('user');
    await page.getByRole('rowheader', { name: 'bob' }).waitFor();
    await page.getByLabel('Time', { exact: true }).selectOption('day');
    await page.getByRole('rowheader', { name: 'bob' }).waitFor();
    t.match(await page.getByLabel('Requests over time').textContent(), /In all 3.*bob 3/);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const csv = await text(await (await download).createReadStream());
    t.match(csv, /^tenant,user,name,requests,.*\r\ndefault,usr_\w+,bob,3,/);
    await page.getByLabel('By', { exact: true }).selectOption('key');
    await page.getByRole('rowheader', { name: /^script bob · key_/ }).waitFor();
    const byKey = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const keys = await text(await (await byKey).createReadStream());
    t.match(keys, /^tenant,key,name,owner,requests,/);
    t.match(keys, /\r\ndefault,key_\w+,script,bob,1,/, 'a key that is revoked keeps its name');
    const lists = (url: URL): boolean => url.pathname === '/api/v1/metering/usage';
    const lines = (after: string | null) => ({
      data: [{ tenant: 'default', id: after === null ? 'first' : 'second', requests: 1, ...NO_TOKENS }],
      ...(after === null ? { next: 'first' } : {}),
    });
    await page.route(lists, (route) =>
      route.fulfill({
        json: { by: 'model', from: '', to: '', ...lines(new URL(route.request().url()).searchParams.get('after')) },
      }),
    );
    await page.getByLabel('By', { exact: true }).selectOption('model');
    await page.getByText('1 shown', { exact: true }).waitFor();
    const whole = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    t.match(await text(await (await whole).createReadStream()), /,first,.*\r\n.*,second,/, 'also what is not shown');
    await page.unroute(lists);
  });

  await t.test(
    'who can do everything is made after a question, and the last one who can sign in cannot be switched off',
    async (t) => {
      const change = (name: string, action: string) =>
        page
          .getByRole('button', { name: `Actions for ${name}` })
          .click()
          .then(() => page.getByRole('menu').getByText(action, { exact: true }).click());
      const users = async (): Promise<object> => {
        const answer = await fetch(`${server.url}/api/v1/identity/users`, { headers: bearer });
        const { data } = (await answer.json()) as { data: { username: string }[] };
        return Object.fromEntries(data.map((user) => [user.username, user]));
      };
      const asBefore = { ada: { disabled: false }, bob: { role: 'viewer' } };
      await openScreen(page, 'users', 'Users');
      await change('bob', 'superadmin');
      await dialog.getByText('bob will administer everything').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      t.match(await users(), asBefore, 'a question that is not answered with yes changes nothing');
      await change('ada', 'Disable');
      await confirm(page, 'Disable your own account?', 'Disable');
      await page.getByText(/No superadmin who can sign in would be left/i).waitFor();
      t.match(await users(), asBefore);
      await change('bob', 'superadmin');
      await confirm(page, 'Make superadmin?', 'Make superadmin');
      await page.getByRole('row', { name: /bob.*superadmin/ }).waitFor();
    },
  );

  t.strictSame(faults, []);
});
