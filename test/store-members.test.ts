/**
 * Requests to files and vector stores, made from the client's own types: each member in each of its forms, one at a time and in pairs. What a
 * member asks for is seen in the answer, or the request is refused by the member's name.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { ClientTypes, type TypeName } from '../scripts/check/client-types.ts';
import { openaiRoutes } from '../ts/server/domains/data/openai/openai-routes.ts';
import { until } from '../ts/server/platform/jobs/test-support/open-jobs.ts';
import type { SchemaNode } from '../ts/server/platform/schema/accepted.ts';
import { memberEffects } from '../ts/server/platform/schema/member-effect.ts';
import { type HttpAnswer, post, send, sendJson } from './http.ts';
import { stockServer } from './server.ts';
import { samplesOf } from './test-support/client-samples.ts';
import { iterations } from './test-support/iterations.ts';

t.setTimeout(600_000);

type Members = Record<string, unknown>;
type Seen = Members & { data?: Members[] };
/** Whether the answer shows what the member asked for. */
type Effect = (value: unknown, answer: Seen, asked: Members) => boolean | Promise<boolean>;

interface Operation {
  route: string;
  type: TypeName;
  /** What every request has; a member of a set takes its place. */
  base?: Members;
  /** Values beside those that are made from the types, by the member's name. */
  values?: Readonly<Record<string, readonly unknown[]>>;
  ask: (members: Members) => Promise<HttpAnswer>;
  undo?: (answer: Seen) => Promise<unknown>;
  effects: Readonly<Record<string, Effect>>;
}

const server = await stockServer(t);
const { url } = server;
const routes = openaiRoutes({} as never);

async function upload(members: Members): Promise<HttpAnswer> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ purpose: 'assistants', ...members })) {
    if (typeof value !== 'object') form.set(name, String(value));
    else for (const [key, inner] of Object.entries(value as Members)) form.set(`${name}[${key}]`, String(inner));
  }
  form.set('file', new Blob(['The lighthouse of Karvo was built in the year 1893 by fishermen.']), 'town.txt');
  const response = await fetch(`${url}/v1/files`, { method: 'POST', body: form });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

const newFile = async () => String((await upload({})).json?.['id']);
const files = [await newFile(), await newFile()] as const;
const newStore = async () => (await sendJson<{ id: string }>(url, '/v1/vector_stores', { name: 'members of stores' })).id;
const remove = (path: string) => send(url + path, { method: 'DELETE' });

/** Both files are in it; the first has an attribute. */
const filled = await newStore();
const attributed = { key: 'some text' };
const batch = await sendJson<{ id: string }>(url, `/v1/vector_stores/${filled}/file_batches`, {
  files: [{ file_id: files[0], attributes: attributed }, { file_id: files[1] }],
});
await until(
  () => sendJson<{ status: string }>(url, `/v1/vector_stores/${filled}/file_batches/${batch.id}`),
  ({ status }) => status === 'completed',
);
const empty = await newStore();
t.teardown(async () => {
  for (const id of [filled, empty]) await remove(`/v1/vector_stores/${id}`);
  for (const id of files) await remove(`/v1/files/${id}`);
});

const list = (path: string) => (members: Members) =>
  send(
    `${url}${path}?${new URLSearchParams(Object.entries(members).map(([name, value]): [string, string] => [name, String(value)]))}`,
  );
const listed = ({ data = [] }: Seen) => data.map(({ id }) => String(id));

/** What is at one side of an item, in the order that was asked for. */
function beside(path: string, member: 'after' | 'before'): Effect {
  return async (value, answer, { order, filter, purpose }) => {
    const same = Object.fromEntries(Object.entries({ order, filter, purpose }).filter(([, each]) => each !== undefined));
    const all = listed((await list(path)({ ...same, limit: 100 })).json as Seen);
    const at = all.indexOf(String(value));
    const may = at === -1 ? [] : member === 'after' ? all.slice(at + 1) : all.slice(0, at);
    return listed(answer).every((id) => may.includes(id));
  };
}

function paging(path: string): Operation['effects'] {
  return {
    limit: (value, answer) => listed(answer).length <= Number(value),
    order: (value, { data = [] }) => {
      const times = data.map((each) => Number(each['created_at']));
      return times.every((time, i) => i === 0 || (value === 'asc' ? time >= Number(times[i - 1]) : time <= Number(times[i - 1])));
    },
    after: beside(path, 'after'),
    before: beside(path, 'before'),
    filter: (value, { data = [] }) => data.every(({ status }) => status === value),
    purpose: (value, { data = [] }) => data.every(({ purpose }) => purpose === value),
  };
}

const equals = (name: string): Effect => {
  return (value, answer) => same(answer[name], value);
};

function same(a: unknown, b: unknown): boolean {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch {
    return false;
  }
}

const expiry: Effect = (value, answer) => {
  const { seconds } = value as { seconds: number };
  return Number(answer['expires_at']) - Number(answer['created_at']) === seconds;
};
const nFiles = ({ file_counts: counts }: Seen) => (counts as { total: number }).total;
const fileOf = async (store: string, id: string) => sendJson<Seen>(url, `/v1/vector_stores/${store}/files/${id}`);

/** As OpenAI's reference describes filters. */
function fits(attributes: Members, filter: Members): boolean {
  const { type, key, value, filters } = filter as { type: string; key: string; value: never; filters: Members[] };
  const own = attributes[key] as never;
  const isComparable = own !== undefined && typeof own === typeof value;
  const tests: Readonly<Record<string, () => boolean>> = {
    eq: () => own === value,
    ne: () => own !== value,
    gt: () => isComparable && own > value,
    gte: () => isComparable && own >= value,
    lt: () => isComparable && own < value,
    lte: () => isComparable && own <= value,
    in: () => (value as unknown[]).includes(own),
    nin: () => !(value as unknown[]).includes(own),
    and: () => filters.every((each) => fits(attributes, each)),
    or: () => filters.some((each) => fits(attributes, each)),
  };
  return tests[type]?.() ?? false;
}

const stores = '/v1/vector_stores';
const openai = (file: string, name: string): TypeName => ['openai', file, name];
const ofStores = 'vector-stores/vector-stores';
const auto: Effect = (value) => (value as Members)['type'] === 'auto';
const takeOut = (store: string) => async () => {
  for (const id of files) await remove(`${stores}/${store}/files/${id}`);
};

const operations: readonly Operation[] = [
  {
    route: 'POST /v1/files',
    type: openai('files', 'FileCreateParams'),
    values: { expires_after: [{ anchor: 'created_at', seconds: 3_600 }] },
    ask: upload,
    undo: ({ id }) => remove(`/v1/files/${id}`),
    effects: { purpose: equals('purpose'), expires_after: expiry },
  },
  {
    route: 'GET /v1/files',
    type: openai('files', 'FileListParams'),
    values: { after: files, purpose: ['assistants', 'user_data'] },
    ask: list('/v1/files'),
    effects: paging('/v1/files'),
  },
  {
    route: `POST ${stores}`,
    type: openai(ofStores, 'VectorStoreCreateParams'),
    values: { file_ids: [[files[0]], [...files]] },
    ask: (members) => post(url + stores, members),
    undo: ({ id }) => remove(`${stores}/${id}`),
    effects: {
      name: equals('name'),
      metadata: equals('metadata'),
      expires_after: equals('expires_after'),
      file_ids: (value, answer) => nFiles(answer) === (value as unknown[]).length,
      chunking_strategy: auto,
    },
  },
  {
    route: `POST ${stores}/{vector_store_id}`,
    type: openai(ofStores, 'VectorStoreUpdateParams'),
    values: { expires_after: [null], metadata: [null] },
    ask: (members) => post(`${url}${stores}/${empty}`, members),
    effects: {
      name: equals('name'),
      metadata: (value, answer) => same(answer['metadata'], value ?? {}),
      expires_after: equals('expires_after'),
    },
  },
  {
    route: `GET ${stores}`,
    type: openai(ofStores, 'VectorStoreListParams'),
    values: { after: [filled], before: [filled] },
    ask: list(stores),
    effects: paging(stores),
  },
  {
    route: `POST ${stores}/{vector_store_id}/search`,
    type: openai(ofStores, 'VectorStoreSearchParams'),
    base: { query: 'When was the lighthouse built?' },
    ask: (members) => post(`${url}${stores}/${filled}/search`, members),
    effects: {
      query: (value, answer) => same(answer['search_query'], [value].flat()),
      filters: (value, { data = [] }) => data.every(({ attributes }) => fits(attributes as Members, value as Members)),
      max_num_results: (value, { data = [] }) => data.length <= Number(value),
      ranking_options: (value, { data = [] }) => {
        const { score_threshold: least = 0 } = value as { score_threshold?: number };
        return data.every(({ score }) => Number(score) >= least);
      },
    },
  },
  {
    route: `POST ${stores}/{vector_store_id}/files`,
    type: openai('vector-stores/files', 'FileCreateParams'),
    base: { file_id: files[0] },
    values: { file_id: files },
    ask: (members) => post(`${url}${stores}/${empty}/files`, members),
    undo: takeOut(empty),
    effects: { file_id: equals('id'), attributes: equals('attributes'), chunking_strategy: auto },
  },
  {
    route: `GET ${stores}/{vector_store_id}/files`,
    type: openai('vector-stores/files', 'FileListParams'),
    values: { after: files, before: files },
    ask: list(`${stores}/${filled}/files`),
    effects: paging(`${stores}/${filled}/files`),
  },
  {
    route: `POST ${stores}/{vector_store_id}/files/{file_id}`,
    type: openai('vector-stores/files', 'FileUpdateParams'),
    base: { attributes: null },
    values: { attributes: [null, {}, { page: 3, isNew: true }] },
    ask: (members) => post(`${url}${stores}/${filled}/files/${files[1]}`, members),
    effects: { attributes: (value, answer) => same(answer['attributes'], value ?? {}) },
  },
  {
    route: `POST ${stores}/{vector_store_id}/file_batches`,
    type: openai('vector-stores/file-batches', 'FileBatchCreateParams'),
    base: { file_ids: [files[0]] },
    values: { file_ids: [[...files]], files: [[{ file_id: files[0] }], [{ file_id: files[1], attributes: { page: 3 } }]] },
    // One of both is sent.
    ask: ({ file_ids: ids, ...members }) =>
      post(`${url}${stores}/${empty}/file_batches`, members['files'] === undefined ? { ...members, file_ids: ids } : members),
    undo: takeOut(empty),
    effects: {
      file_ids: (value, answer, { files }) => files !== undefined || nFiles(answer) === (value as unknown[]).length,
      files: async (value, answer, { attributes }) => {
        const shown = await Promise.all((value as Members[]).map(({ file_id: id }) => fileOf(empty, String(id))));
        const wanted = (value as Members[]).map((each) => each['attributes'] ?? attributes ?? {});
        return nFiles(answer) === shown.length && shown.every((file, i) => same(file['attributes'], wanted[i]));
      },
      attributes: async (value, _, asked) => {
        const first = (asked['files'] as Members[] | undefined)?.[0] ?? { file_id: (asked['file_ids'] as string[])[0] };
        return same((await fileOf(empty, String(first['file_id'])))['attributes'], first['attributes'] ?? value);
      },
      chunking_strategy: auto,
    },
  },
  {
    route: `GET ${stores}/{vector_store_id}/file_batches/{batch_id}/files`,
    type: openai('vector-stores/file-batches', 'FileBatchListFilesParams'),
    values: { after: files, before: files },
    ask: list(`${stores}/${filled}/file_batches/${batch.id}/files`),
    effects: paging(`${stores}/${filled}/file_batches/${batch.id}/files`),
  },
];

const types = new ClientTypes(
  process.cwd(),
  operations.map(({ type }) => type),
);
/** Not in a body: a path has it, or it is the file itself. */
const elsewhere = ['vector_store_id', 'file'];

interface Sample {
  member: string;
  value: unknown;
}

function samples({ type, values = {} }: Operation): Sample[] {
  return types
    .members(types.get(type))
    .filter(({ name }) => !elsewhere.includes(name))
    .flatMap(({ name, type: of }) => {
      const texts = new Set([...samplesOf(types, of, 1), ...(values[name] ?? [])].map((value) => JSON.stringify(value)));
      return [...texts].map((text) => ({ member: name, value: JSON.parse(text) as unknown }));
    });
}

/** What is documented of the route: its members, and the codes of its refusals. */
function documented(name: string) {
  const route = routes.find(({ method, path }) => `${method} ${path}` === name);
  if (route === undefined) throw new Error(`there is no route ${name}`);
  const effects = [route.body, route.query].flatMap((schema) => memberEffects((schema ?? {}) as unknown as SchemaNode));
  const codes = new Set([
    'unsupported_member',
    ...(route.errors ?? []).map((error) => (typeof error === 'string' ? error : error.code)),
  ]);
  return { effects, codes };
}

const memberOf = ({ json }: HttpAnswer) =>
  String((json?.['error'] as { param?: string } | undefined)?.param ?? json?.['param'] ?? '').replace(/[.[].*$/, '');

for (const operation of operations) {
  const { route, base = {}, ask, undo, effects } = operation;
  const all = samples(operation);
  const table = documented(route);

  /** What is wrong with the answer; undefined where nothing is. */
  const judge = async (set: readonly Sample[]): Promise<string | undefined> => {
    const asked = { ...base, ...Object.fromEntries(set.map(({ member, value }) => [member, value])) };
    const answer = await ask(asked);
    const seen = (answer.json ?? {}) as Seen;
    try {
      if (answer.status === 200) return await faultOfAnswer(set, seen, asked);
      const { code } = (seen['error'] ?? seen) as { code?: string };
      if (![400, 404, 422].includes(answer.status) || !table.codes.has(String(code)))
        return `is answered ${answer.status}: ${answer.text.slice(0, 300)}`;
      if (!set.some(({ member }) => member === memberOf(answer)))
        return `is refused without its name: ${answer.text.slice(0, 300)}`;
      return undefined;
    } finally {
      if (answer.status === 200) await undo?.(seen);
    }
  };
  const faultOfAnswer = async (set: readonly Sample[], answer: Seen, asked: Members): Promise<string | undefined> => {
    for (const { member, value } of set) {
      const entry = table.effects.find(({ name }) => name === member);
      if (entry?.effect === 'ignored') continue;
      if (entry?.effect === 'refused') {
        if (!Compile(entry.node as never).Check(value)) return `is answered, though the table refuses ${member}`;
        continue;
      }
      const effect = effects[member];
      if (effect === undefined) return `is answered, and nothing is known of ${member}`;
      if (!(await effect(value, answer, asked))) return `shows nothing of ${member}: ${JSON.stringify(answer).slice(0, 300)}`;
    }
    return undefined;
  };

  t.test(`${route}: each member in each form has its effect or is refused by its name`, async (t) => {
    t.ok(all.length > 0, `${all.length} requests`);
    for (const sample of all) t.equal(await judge([sample]), undefined, JSON.stringify(sample));
  });

  const names = new Set(all.map(({ member }) => member));
  if (names.size > 1)
    t.test(`${route}: members in pairs have both effects, or one is refused by its name`, async (t) => {
      const pair = fc.tuple(fc.constantFrom(...all), fc.constantFrom(...all)).filter(([a, b]) => a.member !== b.member);
      for (const set of fc.sample(pair, iterations(15, 300))) t.equal(await judge(set), undefined, JSON.stringify(set));
    });
}
