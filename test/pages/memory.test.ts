/** Memories in the chat: a question is remembered, recalled, proposed by a model and confirmed by the reader; the list is searched, corrected and forgotten. */
import t from 'tap';
import { BILLED } from '../providers/provider-server.ts';
import { confirm, whyNoBrowser } from './browser.ts';
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
  t.strictSame(faults, []);
});
