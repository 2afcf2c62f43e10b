/** The console's screens about tools: the policy, MCP servers of others, and approvals. */
import t from 'tap';
import { openForeign } from '../../ts/server/domains/edge/test-support/foreign-server.ts';
import { post, send } from '../http.ts';
import { startServer } from '../server.ts';
import { bearerOf, confirm, openBrowser, openPage, openScreen, register, whyNoBrowser } from './browser.ts';

t.test('tools', { skip: whyNoBrowser() }, async (t) => {
  const foreign = await openForeign(t, [{ name: 'find', description: 'Finds things.', run: () => 'found' }]);
  const server = await startServer(t, { env: { SVC_MCP_ALLOWED_HOSTS: 'http://127.0.0.1' } });
  const browser = await openBrowser(t);
  const { page, context, faults } = await openPage(browser, server.url);
  await register(page);
  const bearer = await bearerOf(context);
  const dialog = page.getByRole('dialog');
  const execute = (tool: string, body: object = {}) => post(`${server.url}/api/v1/tools/execute`, { tool, ...body }, bearer);

  await t.test('an MCP server is registered, its tools are read and approved, and it is removed', async (t) => {
    await openScreen(page, 'mcp', 'MCP servers');
    await page.getByText('No MCP servers yet').waitFor();
    await page.getByRole('button', { name: 'New MCP server' }).click();
    await dialog.getByLabel('Label').fill('docs');
    await dialog.getByLabel('Address').fill('http://169.254.169.254/latest');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Address').fill(foreign.url);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('mcp.docs.find').waitFor();
    await dialog.getByText('Finds things.').waitFor();
    await dialog.getByText('to be looked at').waitFor();
    await dialog.getByRole('button', { name: 'Approve these tools' }).click();
    await page.getByRole('row', { name: /docs.*ready/ }).waitFor();
    t.match((await execute('mcp.docs.find')).json, { ok: true, result: 'found' });
  });

  await t.test('a rule of one tool is set and taken back, and the others stay', async (t) => {
    const rules = [{ tools: ['artifacts.*'], decision: 'deny' }];
    await send(`${server.url}/api/v1/tools/policies`, {
      method: 'PUT',
      headers: bearer,
      body: { rules, timeout_seconds: 60, taint_exempt: [] },
    });
    await openScreen(page, 'tools', 'Tools');
    await page.getByRole('row', { name: /artifacts\.create.*never/ }).waitFor();
    const choose = async (item: string): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for mcp.docs.find' }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await page.getByRole('row', { name: /mcp\.docs\.find.*reaches other servers.*asks/ }).waitFor();
    await choose('Let it run');
    await page.getByRole('row', { name: /mcp\.docs\.find.*reaches other servers.*runs/ }).waitFor();
    await choose('Ask each time');
    await page.getByRole('row', { name: /mcp\.docs\.find.*reaches other servers.*asks/ }).waitFor();
    const policy = await send(`${server.url}/api/v1/tools/policies`, { headers: bearer });
    t.match(policy.json, { rules: [...rules, { tools: ['mcp.docs.find'], decision: 'ask' }], timeout_seconds: 60 });
  });

  await t.test('a call that asks is shown with its arguments, approved, and runs once', async (t) => {
    const asked = await execute('mcp.docs.find', { arguments: { q: 'lighthouse' } });
    t.equal(asked.status, 409);
    await openScreen(page, 'approvals', 'Approvals');
    const row = page.getByRole('row', { name: /mcp\.docs\.find.*waits/ });
    await row.getByText('"q": "lighthouse"').waitFor();
    await row.getByRole('button', { name: 'Approve mcp.docs.find' }).click();
    await page.getByRole('row', { name: /mcp\.docs\.find.*approved/ }).waitFor();
    const again = { arguments: { q: 'lighthouse' }, approval_id: asked.json?.['approval_id'] };
    t.match((await execute('mcp.docs.find', again)).json, { ok: true });
    t.equal((await execute('mcp.docs.find', again)).status, 409);
  });

  await t.test('a server is removed after a question', async () => {
    await openScreen(page, 'mcp', 'MCP servers');
    await page.getByRole('button', { name: 'Actions for docs' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await confirm(page, 'Remove MCP server', 'Remove');
    await page.getByText('No MCP servers yet').waitFor();
  });
  t.strictSame(faults, []);
});
