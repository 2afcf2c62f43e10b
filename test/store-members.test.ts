/** Requests to files and vector stores, made from the client's own types. */
import t from 'tap';
import type { TypeName } from '../scripts/check/client-types.ts';
import { openaiRoutes } from '../ts/server/domains/data/openai/openai-routes.ts';
import { until } from '../ts/server/platform/jobs/test-support/open-jobs.ts';
import { type HttpAnswer, post, send, sendJson } from './http.ts';
import { stockServer } from './server.ts';
import {
  type Effect,
  equals,
  list,
  type Members,
  type Operation,
  paging,
  type Seen,
  same,
  testOperations,
} from './test-support/client-operations.ts';

t.setTimeout(600_000);

const server = await stockServer(t);
const { url } = server;

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
    ask: list(`${url}/v1/files`),
    effects: paging(list(`${url}/v1/files`)),
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
    ask: list(url + stores),
    effects: paging(list(url + stores)),
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
    ask: list(`${url}${stores}/${filled}/files`),
    effects: paging(list(`${url}${stores}/${filled}/files`)),
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
    ask: list(`${url}${stores}/${filled}/file_batches/${batch.id}/files`),
    effects: paging(list(`${url}${stores}/${filled}/file_batches/${batch.id}/files`)),
  },
];

await testOperations(t, openaiRoutes({} as never), operations);
