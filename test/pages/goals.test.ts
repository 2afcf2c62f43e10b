/** Goals in the chat and in the console: set, planned, approved, decided about, paused, cancelled; the artifact opens in the chat. */
import t from 'tap';
import { BILLED } from '../providers/provider-server.ts';
import { openScreen, whyNoBrowser } from './browser.ts';
import { openScriptedModel } from './scripted-model.ts';

t.setTimeout(180_000);

interface Body {
  messages: { role: string }[];
  tools?: { function: { name: string } }[];
  response_format?: object;
}

t.test('goals', { skip: whyNoBrowser() }, async (t) => {
  const { page, faults, model } = await openScriptedModel(t);
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

  await t.test('in the console: a schedule is made, changed, run, rests, and is removed', async (t) => {
    await openScreen(page, 'schedules', 'Schedules');
    await page.getByText('No schedules yet').waitFor();
    await page.getByRole('button', { name: 'New schedule' }).click();
    await dialog.getByLabel('Name').fill('Digest');
    await dialog.getByLabel('Each time').selectOption('a question is asked, without a plan');
    await dialog.getByLabel('Goal or question').fill('What is new?');
    await dialog.getByLabel('When').fill('0 25 * * *');
    await dialog.getByLabel('Tools').fill('artifacts.create');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('When').fill('30 9 * * 1-5');
    await dialog.getByLabel('Time zone').fill('Europe/Berlin');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /Digest.*What is new\?.*30 9 \* \* 1-5.*Europe\/Berlin.*on/ }).waitFor();
    const choose = async (item: string): Promise<void> => {
      await page.getByRole('button', { name: /Digest/ }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await choose('Edit');
    await dialog.getByLabel('Name').fill('Digest of the week');
    await dialog.getByLabel('While the one before is under way').selectOption('it waits');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /Digest of the week/ }).waitFor();
    const answer = await page.request.get('/api/v1/agent/schedules');
    const [schedule] = (await answer.json()).data;
    t.match(schedule, { prompt: 'What is new?', overlap: 'queue', tools: ['artifacts.create'], timezone: 'Europe/Berlin' });
    await choose('Run now');
    await openScreen(page, 'goals', 'Goals');
    await page.getByRole('row', { name: /What is new\?/ }).waitFor();
    await openScreen(page, 'schedules', 'Schedules');
    await choose('Disable');
    await page.getByRole('row', { name: /Digest of the week.*rests/ }).waitFor();
    await choose('Delete');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No schedules yet').waitFor();
  });
  t.strictSame(faults, []);
});
