/**
 * Requests that read responses, what went into them, and the list of models, made from the clients' own types. And what their clients in Python
 * write otherwise.
 */
import t from 'tap';
import type { TypeName } from '../scripts/check/client-types.ts';
import { modelListRoute } from '../ts/server/domains/completions/compat/openai-models/route.ts';
import { keptResponseRoutes } from '../ts/server/domains/completions/compat/openai-responses/kept-routes.ts';
import { until } from '../ts/server/platform/jobs/test-support/open-jobs.ts';
import { type HttpAnswer, send, sendJson } from './http.ts';
import { chatModel, stockServer } from './server.ts';
import {
  beside,
  type Effect,
  list,
  listed,
  type Members,
  type Operation,
  paging,
  queryOf,
  type Seen,
  same,
  testOperations,
} from './test-support/client-operations.ts';

t.setTimeout(600_000);

const server = await stockServer(t);
const { url } = server;
const logprobs = 'message.output_text.logprobs';
const results = 'file_search_call.results';

const form = new FormData();
form.set('purpose', 'assistants');
form.set('file', new Blob(['The lighthouse of Karvo was built in the year 1893 by fishermen.']), 'town.txt');
const file = (await (await fetch(`${url}/v1/files`, { method: 'POST', body: form })).json()) as { id: string };
const store = await sendJson<{ id: string }>(url, '/v1/vector_stores', { name: 'members that read' });
await sendJson(url, `/v1/vector_stores/${store.id}/files`, { file_id: file.id });
await until(
  () => sendJson<{ status: string }>(url, `/v1/vector_stores/${store.id}/files/${file.id}`),
  ({ status }) => status === 'completed',
);
t.teardown(async () => {
  for (const path of [`/v1/vector_stores/${store.id}`, `/v1/files/${file.id}`]) await send(url + path, { method: 'DELETE' });
});

const create = async (more: Members) =>
  await sendJson<{ id: string }>(url, '/v1/responses', { model: chatModel, max_output_tokens: 4, ...more });
const search = { type: 'file_search', vector_store_ids: [store.id] };
const texts = ['Hello', 'When was the lighthouse built?'];
const input = texts.map((content) => ({ role: 'user', content }));

const itemsOf = (id: string) => list(`${url}/v1/responses/${id}/input_items`);

const createWith = async (more: Members) => {
  const { id } = await create({ input, background: true, include: [logprobs, results], ...more });
  await until(
    () => sendJson<{ status: string }>(url, `/v1/responses/${id}`),
    ({ status }) => status === 'completed' || status === 'incomplete',
  );
  return id;
};
/** They were made with all that can be included, in the background; the first quotes a document. */
const whole = await createWith({ tools: [search] });
const sampled = await createWith({});
/** It was made without. */
const { id: plain } = await create({ input, tools: [search] });
/** Their items stand before its own. */
const idsOf = async (id: string) => listed((await itemsOf(id)({ order: 'asc', limit: 100 })).json as Seen);
const createAfter = async (previous: string) => {
  const { id } = await create({ input: 'And by whom?', previous_response_id: previous });
  return { id, ids: await idsOf(id) };
};
const afterWhole = await createAfter(whole);
const afterPlain = await createAfter(plain);

/** Events become members of the answer. */
const read =
  (id: string) =>
  async (members: Members): Promise<HttpAnswer> => {
    const answer = await send(`${url}/v1/responses/${id}?${queryOf(members)}`);
    if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) return answer;
    const lines = answer.text.split('\n').filter((line) => line.startsWith('data: '));
    return { ...answer, json: { events: lines.map((line) => JSON.parse(line.slice('data: '.length))) } };
  };

const eventsOf = ({ events }: Seen) => (events ?? []) as { sequence_number: number; response?: { output: Members[] } }[];
const outputOf = (answer: Seen) => (answer['output'] ?? eventsOf(answer).at(-1)?.response?.output ?? []) as Members[];
const partsOf = ({ content }: Members) => content as { type: string; text: string; logprobs: unknown[] }[];

function hasIncluded(items: readonly Members[], name: string): boolean {
  const ofType = items.filter(({ type }) => type === name.split('.')[0]);
  if (name === results) return ofType.every((item) => Array.isArray(item['results']));
  const parts = ofType.flatMap(partsOf);
  // What was quoted was not sampled.
  if (name === logprobs)
    return parts.every(
      (part) => part.type !== 'output_text' || part.text.startsWith('From the documents') || part.logprobs.length > 0,
    );
  return name.startsWith('message.') ? parts.every(({ type }) => type !== 'input_image') : ofType.length === 0;
}

const included =
  (itemsOf: (answer: Seen) => readonly Members[]): Effect =>
  (value, answer) =>
    (value as string[]).every((name) => hasIncluded(itemsOf(answer), name));

const ofResponse: Operation['effects'] = {
  stream: (value, answer) => eventsOf(answer).length > 0 === value,
  starting_after: (value, answer) => eventsOf(answer).every((event) => event.sequence_number > Number(value)),
  include: included(outputOf),
};

function ofItems(id: string): Operation['effects'] {
  return {
    ...paging(itemsOf(id)),
    order: async (value, answer) => {
      const all = await idsOf(id);
      const places = listed(answer).map((each) => all.indexOf(each));
      return same(places, value === 'asc' ? places.toSorted((a, b) => a - b) : places.toSorted((a, b) => b - a));
    },
    include: included(({ data = [] }) => data),
  };
}

const anthropicVersion = { 'anthropic-version': '2023-06-01' };
const models = list(`${url}/v1/models`, anthropicVersion);
const modelIds = listed((await models({})).json as Seen);
const ofModels: Operation['effects'] = {
  limit: (value, answer) => listed(answer).length <= Number(value),
  after_id: beside(models, 'behind'),
  before_id: beside(models, 'before'),
  lifecycle: async (value, answer, { lifecycle: _, ...rest }) => {
    const isActive = (value as string[]).length === 0 || (value as string[]).includes('active');
    return same(listed(answer), isActive ? listed((await models(rest)).json as Seen) : []);
  },
};

const openai = (file: string, name: string): TypeName => ['openai', file, name];
const retrieve = openai('responses/responses', 'ResponseRetrieveParamsBase');
const inputItems = openai('responses/input-items', 'InputItemListParams');
const one = 'GET /v1/responses/{id}';

const ofIncluded = [[logprobs, results]];
const operations: readonly Operation[] = [
  {
    route: one,
    type: retrieve,
    values: { starting_after: [0, 2, 1_000], include: ofIncluded },
    ask: read(whole),
    effects: ofResponse,
  },
  {
    route: one,
    of: 'with events',
    type: retrieve,
    base: { stream: true },
    values: { starting_after: [0, 2, 1_000], include: ofIncluded },
    ask: read(sampled),
    effects: ofResponse,
  },
  { route: one, of: 'made with little', type: retrieve, values: { include: ofIncluded }, ask: read(plain), effects: ofResponse },
  ...[afterWhole, afterPlain].map(({ id, ids }, i) => ({
    route: `${one}/input_items`,
    of: i === 0 ? '' : 'behind one that was made with little',
    type: inputItems,
    values: { limit: [2, 100, 101], after: ids, include: ofIncluded },
    ask: itemsOf(id),
    effects: ofItems(id),
  })),
  ...['models', 'beta/models'].map((of) => ({
    route: 'GET /v1/models',
    of: of === 'models' ? '' : 'of previews',
    type: ['@anthropic-ai/sdk', of, 'ModelListParams'] as TypeName,
    values: { limit: [1, 1_000, 1_001], after_id: modelIds, before_id: modelIds, lifecycle: [['active', 'retired'], ['none']] },
    ask: models,
    effects: ofModels,
  })),
];

await testOperations(t, [...keptResponseRoutes({} as never), modelListRoute({} as never, async () => [])], operations);

t.test('what a response was made with is shown, and what it was made without is refused', async (t) => {
  for (const [id, status] of [
    [whole, 200],
    [sampled, 200],
    [plain, 400],
  ] as const)
    for (const include of [[logprobs], [results]]) t.equal((await read(id)({ include })).status, status, String(include));
  const { json } = await itemsOf(afterPlain.id)({ include: [logprobs] });
  t.match(json, { error: { code: 'invalid_request', param: 'include' } });
  t.equal((await itemsOf(afterWhole.id)({ include: [logprobs, results] })).status, 200);
});

t.test('stages of models in one text, as the client of Python writes them', async (t) => {
  const shown = async (query: string) =>
    listed((await send(`${url}/v1/models?${query}`, { headers: anthropicVersion })).json as Seen);
  t.ok(modelIds.length > 1);
  t.strictSame(await shown('lifecycle=active,deprecated'), modelIds);
  t.strictSame(await shown('lifecycle=retired,deprecated'), []);
});

t.test('the list in the shape of OpenAI is cut as it is asked for', async (t) => {
  const ask = list(`${url}/v1/models`);
  const all = listed((await ask({})).json as Seen);
  t.strictSame(listed((await ask({ limit: 1 })).json as Seen), all.slice(0, 1));
  t.strictSame(listed((await ask({ after_id: all[0] })).json as Seen), all.slice(1));
  t.strictSame(listed((await ask({ before_id: all[1], after_id: all[1] })).json as Seen), []);
  t.match(await ask({ after_id: 'none' }), { status: 400, json: { error: { code: 'invalid_request', param: 'after_id' } } });
});
