/** The console's screens about security and integration: webhooks, role enforcement, the audit log, provisioning, forwarding, collection. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { someConfig, whyNoRsyslog } from '../../ts/server/domains/logs/test-support/logs-bed.ts';
import { madeLine, writeLines } from '../../ts/server/domains/logs/test-support/made-copy.ts';
import { openReceiver as openSyslogReceiver } from '../../ts/server/domains/syslog/test-support/receiver.ts';
import { eventually } from '../../ts/server/platform/http/test-support/test-bed.ts';
import { post, send } from '../http.ts';
import { startServer } from '../server.ts';
import { bringAxe, testAccessible } from './accessible.ts';
import { bearerOf, confirm, openBrowser, openPage, openScreen, register, whyNoBrowser } from './browser.ts';

/** What a webhook sends to; answers 500 until it is well. */
async function openReceiver(t: Test) {
  const received: IncomingMessage['headers'][] = [];
  const state = { isWell: false };
  const receiver = createServer((request, response) => {
    received.push(request.headers);
    request.resume().on('end', () => response.writeHead(state.isWell ? 204 : 500).end());
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  t.teardown(() => receiver.close());
  return { received, state, url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}` };
}

t.test('security and integration', { skip: whyNoBrowser() }, async (t) => {
  const receiver = await openReceiver(t);
  const hook = await openReceiver(t);
  hook.state.isWell = true;
  const server = await startServer(t, {
    env: {
      SVC_WEBHOOKS_ALLOWED_HOSTS: receiver.url,
      SVC_SYSLOG_ALLOWED_HOSTS: '127.0.0.1',
      SVC_COMM_ALLOWED_HOSTS: hook.url,
    },
  });
  const browser = await openBrowser(t);
  const { page, context, faults } = await openPage(browser, server.url);
  await bringAxe(context);
  await register(page);
  const bearer = await bearerOf(context);
  const dialog = page.getByRole('dialog');

  await t.test('a scientific source that somebody asked for is enabled, and another gets its key', async (t) => {
    const reason = { source_id: 'arxiv', reason: 'for the thesis' };
    t.equal((await post(`${server.url}/api/v1/science/sources/request`, reason, bearer)).status, 202);
    await openScreen(page, 'science', 'Science');
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) });
    await row('arXiv').getByText('for the thesis').waitFor();
    await page.getByRole('button', { name: 'Actions for arXiv' }).click();
    await page.getByRole('menuitem', { name: 'Enable' }).click();
    await row('arXiv').getByText('enabled', { exact: true }).waitFor();
    t.equal(await row('arXiv').getByText('for the thesis').count(), 0);
    await page.getByRole('button', { name: 'Actions for OpenAlex' }).click();
    await page.getByRole('menuitem', { name: 'Set key' }).click();
    await dialog.getByLabel('Key', { exact: true }).fill('secret-4711');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row('OpenAlex').getByText('set', { exact: true }).waitFor();
    t.notMatch(await page.content(), 'secret-4711');
  });

  await t.test('an account for messages is added, tested, lets models send, and is removed', async (t) => {
    await openScreen(page, 'messages', 'Messages');
    await page.getByText('No accounts yet').waitFor();
    await page.getByRole('button', { name: 'Add account' }).click();
    const account = { kind: 'webhook', name: 'Ops', settings: { url: hook.url }, allowed_recipients: ['ops'] };
    await dialog.getByLabel('Account', { exact: true }).fill(JSON.stringify(account));
    await dialog.getByLabel('Password, token or address of the hook').fill('c2VjcmV0LTQ3MTE=');
    await dialog.getByRole('button', { name: 'Add account' }).click();
    const row = page.getByRole('row').filter({ has: page.getByText('Ops', { exact: true }) });
    await row.getByText('by approval').waitFor();
    await page.getByRole('button', { name: 'Actions for Ops' }).click();
    await page.getByRole('menuitem', { name: 'Send a test' }).click();
    await dialog.getByLabel('Recipient').fill('ops');
    await dialog.getByRole('button', { name: 'Send a test' }).click();
    await dialog.getByRole('status').getByText('sent', { exact: true }).waitFor();
    t.equal(hook.received.length, 1);
    await testAccessible(t, page, 'the window of a message');
    await dialog.getByRole('button', { name: 'Close' }).click();
    const sent = page.getByRole('region', { name: 'Sent messages' });
    await sent.getByRole('row').filter({ hasText: 'Ops' }).getByText('sent', { exact: true }).waitFor();
    await testAccessible(t, page, 'messages that were sent');
    await page.getByRole('tab', { name: 'Calls' }).click();
    await page.getByText('No calls yet').waitFor();
    await page.getByRole('button', { name: 'Actions for Ops' }).click();
    await page.getByRole('menuitem', { name: 'Let models send' }).click();
    await row.getByText('may send').waitFor();
    t.notMatch(await page.content(), 'LTQ3MTE');
    await page.getByRole('button', { name: 'Actions for Ops' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await confirm(page, 'Remove account', 'Remove');
    await page.getByText('No accounts yet').waitFor();
  });

  await t.test('a simulated device is added, shows its readings, is written, halted and removed', async (t) => {
    await openScreen(page, 'devices', 'Devices');
    await page.getByText('No devices yet').waitFor();
    await page.getByRole('button', { name: 'Add device' }).click();
    await dialog.getByRole('button', { name: 'Add device' }).click();
    const row = page.getByRole('row').filter({ has: page.getByText('Simulated greenhouse') });
    await row.getByText('connected', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Actions for Simulated greenhouse' }).click();
    await page.getByRole('menuitem', { name: 'Readings' }).click();
    await dialog.getByRole('region', { name: 'temperature', exact: true }).locator('canvas').waitFor();
    await dialog.getByLabel('Value', { exact: true }).fill('21.5');
    await dialog.getByRole('button', { name: 'Write' }).click();
    await page.getByText('Written, and read back').waitFor();
    await dialog.getByRole('row').filter({ hasText: 'setpoint' }).getByText('21.5 Cel').waitFor();
    await testAccessible(t, page, 'the window of a device');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Halt writes' }).click();
    await dialog.getByLabel('Reason').fill('smoke in the hall');
    await dialog.getByRole('button', { name: 'Halt writes' }).click();
    await page.getByText(/Writes are halted by .*: smoke in the hall/).waitFor();
    await page.getByRole('button', { name: 'Let writes pass' }).click();
    await page.getByRole('button', { name: 'Halt writes' }).waitFor();
    await page.getByRole('button', { name: 'Actions for Simulated greenhouse' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No devices yet').waitFor();
    t.equal(await row.count(), 0);
  });

  await t.test('a webhook is made, fails, and a delivery is sent again', async (t) => {
    await openScreen(page, 'webhooks', 'Webhooks');
    await page.getByText('No webhooks yet').waitFor();
    await page.getByRole('button', { name: 'New webhook' }).click();
    await dialog.getByLabel('Address').fill('http://169.254.169.254/latest');
    await dialog.getByRole('checkbox', { name: /identity\.key-created/ }).check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Address').fill(`${receiver.url}/hook`);
    await dialog.getByRole('button', { name: 'Save' }).click();
    t.match(await page.getByTestId('secret').textContent(), /^whsec_/);
    await dialog.getByRole('button', { name: 'Close' }).click();
    t.equal((await post(`${server.url}/api/v1/identity/keys`, { name: 'told' }, bearer)).status, 201);
    await page.getByRole('button', { name: `Actions for ${receiver.url}/hook` }).click();
    await page.getByRole('menuitem', { name: 'Deliveries' }).click();
    const row = dialog.getByRole('row', { name: /identity\.key-created/ });
    await row.getByText(/500/).waitFor();
    await row.getByRole('button', { name: 'Content' }).click();
    t.match(await dialog.getByLabel('Content', { exact: true }).textContent(), /"type": "identity.key-created"/);
    receiver.state.isWell = true;
    await row.getByRole('button', { name: 'Send again' }).click();
    await row.getByText('delivered').waitFor();
    t.equal(new Set(receiver.received.map((headers) => headers['webhook-id'])).size, 1, 'under the same id');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: `Actions for ${receiver.url}/hook` }).click();
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await page.getByRole('row', { name: /disabled/ }).waitFor();
    await page.getByRole('button', { name: `Actions for ${receiver.url}/hook` }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await confirm(page, 'Delete webhook', 'Delete');
    await page.getByText('No webhooks yet').waitFor();
  });

  await t.test('enforcement is switched after a question, and what would be denied is listed', async (t) => {
    await openScreen(page, 'enforcement', 'Role enforcement');
    const mode = page.getByLabel('Mode of this node');
    t.equal(await mode.inputValue(), 'stub_allow');
    await mode.selectOption('audit');
    await page.getByText('those that a role does not allow are listed below').waitFor();
    await post(
      `${server.url}/api/v1/identity/users`,
      { username: 'adam', password: 'correct horse battery', role: 'admin' },
      bearer,
    );
    const adam = (await post(`${server.url}/api/v1/auth/login`, { username: 'adam', password: 'correct horse battery' }))
      .json as { token: string };
    const pull = { reference: 'https://127.0.0.1:1/x.gguf' };
    await post(`${server.url}/api/v1/models/pull`, pull, { authorization: `Bearer ${adam.token}` });
    await openScreen(page, 'overview', 'Overview');
    await openScreen(page, 'enforcement', 'Role enforcement');
    await page.getByRole('row', { name: /adam.*models\.pull.*superadmin.*would be denied/ }).waitFor();
    await mode.selectOption('enforce');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await mode.locator('option[value="audit"]:checked').waitFor({ state: 'attached' });
    await mode.selectOption('enforce');
    await confirm(page, 'Enforce roles?', 'Enforce');
    await page.getByText('Calls that a role does not allow are refused').waitFor();
    const refused = await post(`${server.url}/api/v1/models/pull`, pull, { authorization: `Bearer ${adam.token}` });
    t.equal(refused.status, 403);
    await page.getByLabel('Tenant', { exact: true }).fill('default');
    await page.getByRole('button', { name: 'Only record' }).click();
    await page.getByRole('button', { name: 'default: as the node' }).click();
    await page.getByRole('button', { name: 'default: as the node' }).waitFor({ state: 'detached' });
    await mode.selectOption('stub_allow');
    await page.getByText('Every tool call is allowed, and nothing is recorded.').waitFor();
  });

  await t.test('the audit log is searched and verified, and a line shows all it says', async (t) => {
    await openScreen(page, 'audit', 'Audit log');
    await page.getByRole('cell', { name: 'user.create' }).first().waitFor();
    await page.getByLabel('Search', { exact: true }).fill('KEY.create');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'user.create' }).waitFor({ state: 'detached' });
    t.equal(await page.getByRole('cell', { name: 'key.create' }).count(), 1);
    await page.getByLabel('Search', { exact: true }).fill('no such words');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing was found').waitFor();
    await page.getByLabel('Search', { exact: true }).fill('');
    await page.getByLabel('Outcome').selectOption('denied');
    await page.getByLabel('From').fill(new Date(Date.now() - 86_400_000).toISOString().slice(0, 10));
    await page.getByRole('button', { name: 'Search' }).click();
    await page
      .getByRole('row', { name: /models\/pull.*denied/ })
      .first()
      .waitFor();
    await page
      .getByRole('button', { name: /^Details of Entry \d+/ })
      .first()
      .click();
    t.match(await dialog.textContent(), /Request.*Hash.*"status": 403/s);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Verify' }).click();
    t.match(await page.getByText(/All \d+ entries/).textContent(), /as they were written/);
  });

  await t.test('a SCIM token is made for a directory, works, and is revoked', async (t) => {
    await openScreen(page, 'provisioning', 'Sign-in and SCIM');
    await page.getByText(`${server.url}/scim/v2`).waitFor();
    await page.getByText('off: set identity.oidc.issuer').waitFor();
    await page.getByRole('button', { name: 'New SCIM token' }).click();
    await dialog.getByRole('button', { name: 'Create' }).click();
    const token = (await page.getByTestId('secret').textContent()) ?? '';
    await dialog.getByRole('button', { name: 'Close' }).click();
    const asDirectory = { headers: { authorization: `Bearer ${token}` } };
    const users = await fetch(`${server.url}/scim/v2/Users`, asDirectory);
    t.match(await users.json(), { totalResults: Number });
    t.equal((await fetch(`${server.url}/api/v1/identity/users`, asDirectory)).status, 403, 'it has this scope alone');
    await page.getByRole('rowheader', { name: 'SCIM' }).waitFor();
    await page.getByRole('button', { name: 'Revoke SCIM' }).click();
    await confirm(page, 'Revoke key', 'Revoke');
    await page.getByText('No SCIM tokens').waitFor();
    t.equal((await fetch(`${server.url}/scim/v2/Users`, asDirectory)).status, 401);
  });

  await t.test('log lines are forwarded: the server is set, tested and switched off, and a tenant gets a route', async (t) => {
    const syslog = await openSyslogReceiver(t, 'tcp');
    await openScreen(page, 'forwarding', 'Forwarding');
    await page.getByText('No syslog server').waitFor();
    await page.getByRole('button', { name: 'Set the server' }).click();
    await dialog.getByLabel('Host').fill('127.0.0.1');
    await dialog.getByLabel('Port').fill('0');
    await dialog.getByLabel('Protocol').selectOption('tcp');
    await dialog.getByLabel('Port').fill(String(syslog.port));
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText(`tcp://127.0.0.1:${syslog.port}`).waitFor();
    await page.getByRole('button', { name: 'Send a test line' }).click();
    await page.getByText(`A test line was sent to tcp://127.0.0.1:${syslog.port}`).waitFor();
    t.ok(syslog.lines.some((line) => line.includes('syslog test')));
    await page.getByRole('button', { name: 'New route' }).click();
    await dialog.getByLabel('Tenant').fill('nobody');
    await dialog.getByLabel('Host').fill('127.0.0.1');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Tenant').fill('default');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const row = page.getByRole('row', { name: /default.*udp:\/\/127\.0\.0\.1:514/ });
    await row.getByRole('button', { name: 'Remove' }).click();
    await confirm(page, 'Remove route', 'Remove');
    await row.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    await page.getByRole('button', { name: 'Back to the environment' }).click();
    await confirm(page, 'Back to the environment', 'Back to the environment');
    await page.getByText('No syslog server').waitFor();
  });

  await t.test(
    'a collection is applied, and what does not receive is refused with its reason',
    { skip: whyNoRsyslog },
    async () => {
      await openScreen(page, 'collection', 'Collection');
      const config = await someConfig(t);
      const field = page.getByLabel('Configuration', { exact: true }).getByRole('textbox');
      await field.fill('{');
      await page.getByRole('button', { name: 'Save and apply' }).click();
      await page.getByText('This is no JSON.').waitFor();
      await field.fill(JSON.stringify({ ...config, listen: [{ ...config.listen[0], address: '192.0.2.1' }] }));
      await page.getByRole('button', { name: 'Save and apply' }).click();
      await page.getByText(/192\.0\.2\.1:\d+ did not arrive/).waitFor();
      await field.fill(JSON.stringify(config));
      await page.getByRole('button', { name: 'Save and apply' }).click();
      await page.getByText('Lines arrive through 1 listeners').waitFor();
      await page.getByText('rsyslog running').waitFor();
      await page.getByText('in step').waitFor();
      await page.getByRole('row', { name: new RegExp(config.copies[0] ?? '') }).waitFor();
      await page.getByRole('button', { name: 'Repair now' }).click();
      await page.getByText('0 files and 0 lines were put back').waitFor();
    },
  );

  await t.test('collected lines are searched, shown as they are, and followed', { skip: whyNoRsyslog }, async (t) => {
    const rcvd = new Date(Date.now() - 60_000).toISOString().replace('Z', '000+00:00');
    const { json } = await send(`${server.url}/api/v1/logs/rsyslog/config`, { headers: bearer });
    const { copies } = json as { copies: string[] };
    const write = (...msgs: string[]): void => {
      const lines = msgs.map((msg) => madeLine({ rcvd, app: 'sshd', severity: 3, msg }));
      for (const copy of copies) writeLines(copy, lines);
    };
    write(
      'Failed password=hunter2hunter2 for root <b>bold</b> \u001b[31m',
      ...Array.from({ length: 120 }, (_, i) => `other ${i}`),
    );
    await openScreen(page, 'logs', 'Logs');
    const search = page.getByLabel('Search', { exact: true });
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('row', { name: /other 0$/ }).waitFor();
    await search.fill('failed root');
    const row = page.getByRole('row', { name: /Failed/ });
    await row.waitFor();
    t.match(await row.textContent(), /error.*sshd.*password=\[redacted\] for root <b>bold<\/b> \\u001b\[31m/);
    await page.getByRole('img', { name: 'Lines over time: 1' }).waitFor();
    await search.fill('"failed');
    await page.getByText(/a quote is opened and not closed/).waitFor();
    await search.fill('absent');
    await page.getByText('No lines').waitFor();
    await search.fill('live');
    await page.getByLabel('Follow').check();
    await page.getByText('No lines').waitFor();
    await eventually(async () => {
      write('a live line');
      return (await page.getByRole('row', { name: /a live line/ }).count()) > 0;
    });
  });

  t.strictSame(faults, []);
});
