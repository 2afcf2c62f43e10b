/** Goals in the chat and in the console: set, planned, approved, decided about, paused, cancelled; the artifact opens in the chat. */
import t from 'tap';
import { openAiDialect } from '../providers/openai.ts';
import { BILLED, startProvider } from '../providers/provider-server.ts';
import { startServer } from '../server.ts';
import { openBrowser, openPage, openScreen, register, whyNoBrowser } from './browser.ts';

t.setTimeout(180_000);

interface Body {
  messages: { role: string }[];
  tools?: { function: { name: string } }[];
  response_format?: object;
}

t.test('goals', { skip: whyNoBrowser() }, async (t) => {
  const { url } = await startServer(t, { models: {}, env: { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1' } });
  const model = await startProvider(t, openAiDialect);
  model.models = ['actor'];
  const { page, faults } = await openPage(await openBrowser(t), url);
  await register(page);
  const backend = { id: 'one', kind: 'openai', base_url: `${model.origin}/v1`, key: 'sk-test' };
  t.equal((await page.request.post('/api/v1/cloud/backends', { data: backend })).status(), 201);
  const isOffered = async () => (await (await page.request.get('/v1/models')).text()).includes('"actor"');
  while (!(await isOffered())) await page.waitForTimeout(50);
  const agents = [{ name: 'keeper', instructions: '', model: 'actor', tools: ['artifacts.create'], knowledge: [] }];
  const swarm = await page.request.post('/api/v1/swarm/swarms', { data: { name: 'Keepers', order: 'sequence', agents } });
  t.equal(swarm.status(), 201);
  const says = (text: string) => ({ texts: [text], tokens: BILLED });
  model.say = ({ messages, response_format: format, tools = [] }: Body) => {
    const step = { agent: 'keeper', instruction: 'Write the plan down.', tools: ['artifacts.create'], needs: [] };
    if (format !== undefined) return says(JSON.stringify({ steps: [step] }));
    if (messages.some(({ role }) => role === 'tool')) return says('It is kept.');
    const given = JSON.stringify({ title: 'Plan of the tower', kind: 'markdown', content: '# Tower' });
    const calls = tools.map(({ function: { name } }) => ({ id: 'call_1', name, arguments: given }));
    return { texts: [], calls, finish: 'tool_calls', tokens: BILLED };
  };
  const dialog = page.getByRole('dialog');
  const set = async (text: string): Promise<void> => {
    await dialog.getByLabel('Goal', { exact: true }).fill(text);
    await dialog.getByLabel('Who does it').selectOption('Keepers');
    await dialog.getByRole('button', { name: 'Set goal' }).click();
    await dialog.getByText('plan waits for you').waitFor();
  };

  await t.test('in the chat: plan, approval, a call that waits, the artifact', async (t) => {
    await page.goto('/chat');
    await page.getByLabel('Message', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'ada' }).click();
    await page.getByRole('menuitem', { name: 'Goals' }).click();
    await dialog.getByText('No goals yet').waitFor();
    await dialog.getByRole('button', { name: 'New goal' }).click();
    await set('Keep a plan of the tower');
    await dialog.getByText('Write the plan down.').waitFor();
    await dialog.getByText('Tools: artifacts.create').waitFor();
    await dialog.getByRole('button', { name: 'Approve this plan' }).click();
    await dialog.getByText('plan approved').waitFor();
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await dialog.getByText('waits for a decision').waitFor();
    const waiting = dialog.getByRole('region', { name: 'Calls that wait' });
    await waiting.getByText('"title": "Plan of the tower"').waitFor();
    await waiting.getByRole('button', { name: 'Approve' }).click();
    await dialog.getByText('It is kept.').waitFor();
    t.equal(await dialog.getByRole('button', { name: 'Cancel goal' }).count(), 0, 'what has ended cannot be cancelled');
    await dialog.getByRole('button', { name: 'Artifact 1' }).click();
    await page.getByRole('complementary', { name: /Plan of the tower/ }).waitFor();
  });

  await t.test('in the console: a list, and a goal that is cancelled after a question', async () => {
    await openScreen(page, 'goals', 'Goals');
    await page.getByRole('row', { name: /Keep a plan of the tower.*done/ }).waitFor();
    await page.getByRole('button', { name: 'New goal' }).click();
    await set('Another plan');
    await dialog.getByRole('button', { name: 'Cancel goal' }).click();
    await page.getByRole('dialog', { name: 'Cancel goal' }).getByRole('button', { name: 'Cancel goal' }).click();
    await dialog.getByText('cancelled', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('row', { name: /Another plan.*cancelled/ }).waitFor();
  });
  t.strictSame(faults, []);
});
