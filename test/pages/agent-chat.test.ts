/** Tools in the chat: a call that waits is shown with its arguments and decided there, and the conversation keeps it; messages with their states. */
import t from 'tap';
import { provider } from '../../ts/server/domains/comm/test-support/comm-bed.ts';
import { BILLED } from '../providers/provider-server.ts';
import { whyNoBrowser } from './browser.ts';
import { openScriptedModel } from './scripted-model.ts';

t.setTimeout(180_000);

const PAGE = { title: 'Plan of the tower', kind: 'markdown', content: '# Plan' };

t.test('a call of a tool is shown, approved and kept', { skip: whyNoBrowser() }, async (t) => {
  const receiver = await provider(t);
  const { page, faults, model } = await openScriptedModel(t, { SVC_COMM_ALLOWED_HOSTS: receiver.origin });
  await page.reload();
  model.say = ({ messages, tools = [] }: { messages: { role: string }[]; tools?: object[] }) => {
    const asked = { id: 'call_1', name: 'artifacts_create', arguments: JSON.stringify(PAGE) };
    if (tools.length === 0) return { texts: ['No tools.'], tokens: BILLED };
    return messages.some(({ role }) => role === 'tool')
      ? { texts: ['It is kept.'], tokens: BILLED }
      : { texts: [], calls: [asked], finish: 'tool_calls', tokens: BILLED };
  };
  const ask = async (text: string) => {
    await page.getByLabel('Message', { exact: true }).fill(text);
    await page.keyboard.press('Enter');
  };
  await ask('Hello');
  await page.getByText('No tools.').waitFor();
  await page.getByRole('button', { name: 'Instructions and parameters' }).click();
  await page.getByRole('switch', { name: 'Let the model use tools' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await ask('Keep a plan');
  await page.getByText('waits for you').waitFor();
  await page.getByText('Plan of the tower').waitFor();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('It is kept.').waitFor();
  await page.reload();
  await page.getByText('It is kept.').waitFor();
  await page.locator('summary', { hasText: 'Calls artifacts.create' }).getByText('done').waitFor();
  t.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0);
  const { data } = (await (await page.request.get('/api/v1/artifacts')).json()) as { data: object[] };
  t.match(data, [{ title: 'Plan of the tower' }]);

  const account = {
    kind: 'webhook',
    name: 'Ops',
    settings: { url: receiver.origin },
    key: 'c2VjcmV0',
    allowed_recipients: ['*'],
  };
  const { id: account_id } = await (await page.request.post('/api/v1/comm/accounts', { data: account })).json();
  model.say = ({ messages }: { messages: { role: string }[] }) => {
    const asked = {
      id: 'call_2',
      name: 'comm_send',
      arguments: JSON.stringify({ account_id, to: 'ops', text: 'The lamp is lit.' }),
    };
    return messages.at(-1)?.role === 'tool'
      ? { texts: ['It is on its way.'], tokens: BILLED }
      : { texts: [], calls: [asked], finish: 'tool_calls', tokens: BILLED };
  };
  await ask('Tell the others');
  await page.getByText('The lamp is lit.').waitFor();
  t.equal(receiver.accepted.length, 0, 'nothing leaves before');
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('It is on its way.').waitFor();
  await page.locator('summary', { hasText: 'Calls comm.send' }).click();
  await page.getByRole('status').getByText('sent', { exact: true }).waitFor();
  t.equal(receiver.accepted.length, 1);
  t.strictSame(faults, []);
});
