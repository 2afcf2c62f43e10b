/** An MCP server asks in the middle of a call: the chat shows who asks and what, and the person's answer reaches the server. */
import t from 'tap';
import { serveFixture } from '../mcp-fixture/serve.ts';
import { BILLED } from '../providers/provider-server.ts';
import { bringAxe, testAccessible } from './accessible.ts';
import { whyNoBrowser } from './browser.ts';
import { openScriptedModel } from './scripted-model.ts';

t.setTimeout(180_000);

const TOOLS = ['test_elicitation_sep1034_defaults', 'test_elicitation_sep1330_enums'];

t.test('questions of a server are answered in the chat', { skip: whyNoBrowser() }, async (t) => {
  const fixture = await serveFixture();
  t.teardown(() => fixture.stop());
  const { page, faults, model } = await openScriptedModel(t, { SVC_MCP_ALLOWED_HOSTS: 'http://127.0.0.1' });
  const send = async (method: 'post' | 'put', path: string, data: object) =>
    (await page.request[method](`/api/v1/tools/${path}`, { data })).json() as Promise<{ hash: string; state: string }>;
  const { hash } = await send('post', 'mcp-servers', { label: 'forms', url: fixture.url, tools: TOOLS });
  t.match(await send('post', 'mcp-servers/forms/approve', { hash }), { state: 'ready' });
  const rules = [{ tools: ['mcp.forms.*'], decision: 'allow' }];
  await send('put', 'policies', { rules, timeout_seconds: 120, taint_exempt: ['mcp.forms.*'] });
  await bringAxe(page.context());
  await page.reload();
  const results: string[] = [];
  model.say = ({ messages }: { messages: { role: string; content: unknown }[] }) => {
    const last = messages.findLast(({ role }) => role === 'user');
    const tool = String(last?.content).includes('defaults') ? TOOLS[0] : TOOLS[1];
    const isAnswered = messages.at(-1)?.role === 'tool';
    if (isAnswered) results.push(JSON.stringify(messages.at(-1)?.content));
    return isAnswered
      ? { texts: [`Told ${results.length}.`], tokens: BILLED }
      : { texts: [], calls: [{ id: 'c1', name: `mcp_forms_${tool}`, arguments: '{}' }], finish: 'tool_calls', tokens: BILLED };
  };
  const ask = async (text: string) => {
    // The answer before is whole.
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    await page.getByLabel('Message', { exact: true }).fill(text);
    await page.keyboard.press('Enter');
  };
  await page.getByRole('button', { name: 'Instructions and parameters' }).click();
  await page.getByRole('switch', { name: 'Let the model use tools' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await ask('Look at the defaults');
  await page.getByText('The server forms asks you.').waitFor();
  await testAccessible(t, page, 'a question of a server');
  t.equal(await page.getByLabel('name', { exact: true }).inputValue(), 'John Doe');
  await page.getByLabel('age', { exact: true }).fill('31');
  await page.getByRole('switch', { name: 'verified' }).uncheck();
  await page.getByRole('button', { name: 'Send the answer' }).click();
  await page.getByText('Told 1.').waitFor();
  for (const part of ['John Doe', '31', '95.5', 'active', 'false']) t.match(results[0], part);
  await ask('Choose');
  await page.getByLabel('titledSingle', { exact: true }).selectOption('Second Option');
  await page.getByLabel('Third Choice', { exact: true }).check();
  await page.getByRole('button', { name: 'Send the answer' }).click();
  await page.getByText('Told 2.').waitFor();
  t.match(results[1], /value2/);
  t.match(results[1], /value3/);
  await ask('Choose again');
  await page.getByRole('button', { name: 'Do not answer' }).click();
  await page.getByText('Told 3.').waitFor();
  t.match(results[2], /decline/);
  t.strictSame(faults, []);
});
