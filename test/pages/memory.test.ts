/** Memories in the chat: a question is remembered, recalled, proposed by a model and confirmed by the reader; the list is searched, corrected and forgotten. */
import t from 'tap';
import { BILLED } from '../providers/provider-server.ts';
import { bringAxe, testAccessible } from './accessible.ts';
import { confirm, openScreen, whyNoBrowser } from './browser.ts';
import { openScriptedModel } from './scripted-model.ts';

t.setTimeout(240_000);

t.test('what a reader has remembered is recalled, listed, corrected and forgotten', { skip: whyNoBrowser() }, async (t) => {
  const { page, faults, model } = await openScriptedModel(t, {
    SVC_MODELS_SHIPPED: 'true',
    SVC_DATA_EMBEDDING_URL: '',
    SVC_MEMORY_RECALL_MS: '60000',
  });
  await page.request.put('/api/v1/memory/settings', { data: { recall: 'on' } });
  await page.reload();
  await page.getByTitle('Choose a model').click();
  await page.getByRole('menuitemradio', { name: /actor/ }).click();
  model.say = ({ messages, tools = [] }: { messages: { role: string }[]; tools?: object[] }) => {
    const asked = { id: 'call_1', name: 'memory_remember', arguments: JSON.stringify({ text: 'Clara likes tea' }) };
    if (tools.length === 0 || messages.some(({ role }) => role === 'tool')) return { texts: ['I see.'], tokens: BILLED };
    return { texts: [], calls: [asked], finish: 'tool_calls', tokens: BILLED };
  };
  const ask = async (text: string, nAnswers: number) => {
    await page.getByLabel('Message', { exact: true }).fill(text);
    await page.keyboard.press('Enter');
    await page
      .getByText('I see.')
      .nth(nAnswers - 1)
      .waitFor();
    await page.locator('[aria-busy=true]').waitFor({ state: 'detached' });
  };
  await ask('My sister Clara plays the violin', 1);
  await page.getByRole('button', { name: 'Remember this' }).click();
  await page.getByText('It is remembered.').waitFor();
  await ask('Which instrument does Clara play?', 2);
  await page.locator('summary', { hasText: 'Recalled memories: 1' }).click();

  await page.getByRole('button', { name: 'Instructions and parameters' }).click();
  await page.getByRole('switch', { name: 'Let the model use tools' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await ask('Clara likes tea', 3);
  const { data } = await (await page.request.get('/api/v1/memory/memories')).json();
  t.equal(data.length, 1, 'a proposal keeps nothing');
  const proposal = page.locator('.tool-decision', { hasText: 'Remember this? “Clara likes tea”' });
  await proposal.getByRole('button', { name: 'Remember this' }).click();
  await page.getByText('It is remembered.').last().waitFor();

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('Memory');
  await page.getByRole('option', { name: 'Memory' }).click();
  const dialog = page.getByRole('dialog', { name: 'Memory' });
  await dialog.getByText('Clara likes tea').waitFor();
  await dialog.getByText('Said in a chat').waitFor();
  await dialog.getByRole('button', { name: 'Pin “Clara likes tea”' }).click();
  await dialog.getByRole('button', { name: 'Unpin “Clara likes tea”' }).waitFor();
  await dialog.getByRole('button', { name: 'Edit Clara likes tea' }).click();
  await dialog.getByLabel('Edit Clara likes tea').fill('Clara likes coffee');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Clara likes coffee').waitFor();
  await dialog.getByRole('button', { name: 'Forget “Clara likes coffee”' }).click();
  await confirm(page, 'Forget', 'Forget');
  await dialog.getByText('Clara likes coffee').waitFor({ state: 'detached' });
  await dialog.getByLabel('What shall be remembered?').fill('The key lies under the mat');
  await dialog.getByRole('button', { name: 'Remember', exact: true }).click();
  await dialog.getByText('The key lies under the mat').waitFor();
  await dialog.getByLabel('Search your memories').fill('violin');
  await dialog.getByRole('button', { name: 'Search' }).click();
  await dialog.getByText('The key lies under the mat').waitFor({ state: 'detached' });
  await dialog.getByText('My sister Clara plays the violin').waitFor();

  await t.test('the console shows dreams, forecasts beside the rule, and the router', async (t) => {
    const steps = (mean: number) =>
      Array.from({ length: 48 }, (_, i) => ({
        ts: new Date(1_700_000_000_000 + i * 3_600_000).toISOString(),
        mean: mean + i,
        quantiles: { p10: mean - 5, p50: mean, p90: mean + 60 },
        sample: mean,
      }));
    await page.route('**/api/v1/memory/series', (route) =>
      route.fulfill({ json: { data: [{ name: 'usage.tokens', unit: 'tokens' }] } }),
    );
    await page.route('**/api/v1/worldmodel/rollout', (route) => {
      const isLearned = route.request().postDataJSON().emm_path === 'load.exmm';
      const foreseen = isLearned ? { method: 'xlstm', steps: steps(20) } : { method: 'seasonal_naive_day', steps: steps(10) };
      return route.fulfill({ json: foreseen });
    });
    await page.route('**/api/v1/exmm/models', (route) =>
      route.fulfill({ json: { data: [{ file: 'load.exmm', size_bytes: 2_048, pinned: isPinned }] } }),
    );
    let isPinned = false;
    await page.route('**/api/v1/cluster/storage/system-exmm', (route) => {
      isPinned = route.request().method() === 'PUT';
      return route.fulfill({ json: { pinned: isPinned } });
    });
    await bringAxe(page.context());
    await openScreen(page, 'memories', 'Memory');
    const router = page.getByRole('region', { name: 'Router' });
    await router.getByText('the rule; what was learned is compared').waitFor();
    await router.getByRole('button', { name: 'Judge and learn' }).click();
    await page.getByText('The choices are being judged').waitFor();
    await page.getByText('Memories are put in order each day at 03:00 UTC.').waitFor();
    await page.getByText('Nothing was put in order yet.').waitFor();
    await page.getByRole('button', { name: 'Put in order now' }).click();
    const dreams = page.getByRole('region', { name: 'Dreams' });
    await dreams.getByRole('row').filter({ hasText: 'the tenant' }).getByText('done', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pin load.exmm' }).click();
    await page.getByText('pinned for everybody').waitFor();
    await page.getByRole('button', { name: 'Unpin load.exmm' }).click();
    await page.getByText('pinned for everybody').waitFor({ state: 'detached' });
    const plot = page.getByRole('region', { name: 'usage.tokens' });
    await plot.getByText('seasonal_naive_day 57').waitFor();
    await page.getByLabel('World model of').selectOption('load.exmm');
    await plot.getByText('xlstm 67').waitFor();
    await plot.getByText('seasonal_naive_day 57').waitFor();
    await plot.locator('canvas').waitFor();
    await testAccessible(t, page, 'memories');
  });

  t.strictSame(faults, []);
});
