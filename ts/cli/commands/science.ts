/** `svc science`: scientific sources of a running node, and queries over several of them. */
import { text as readAll } from 'node:stream/consumers';
import type { Answer, Body, Client } from '../../client/client.ts';
import { usageError } from '../cli-error.ts';
import { type Columns, printable, tableOf } from '../format.ts';
import { DEFAULT_NAMESPACE, tenantOf } from '../knowledge/knowledge-client.ts';
import { listCommand, requestCommand, serverCommand } from '../server-command.ts';

type Query = Body<'POST /api/v1/science/query'>;
type Record = Answer<'POST /api/v1/science/query'>['records'][number];

const recordColumns: Columns<Record> = {
  SOURCE: ({ source: of }) => of,
  DATE: ({ date }) => date,
  TITLE: ({ title }) => title,
  ADDRESS: ({ url, id }) => url ?? id,
};
const SHORTEST_DOCUMENT = 20;
const source = { name: 'SOURCE', help: 'as `svc science sources` shows it' };

export const scienceSources = listCommand({
  words: ['science', 'sources'],
  summary: 'List the scientific sources, and which of them the tenant may ask',
  examples: ['svc science sources'],
  route: 'GET /api/v1/science/sources',
  columns: {
    SOURCE: ({ id }) => id,
    CATEGORY: ({ category }) => category,
    STATE: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
    KEY: ({ needs_key: isNeeded, key_present: isThere, key_url: url }) =>
      isThere ? 'set' : isNeeded ? 'needed' : url === null ? '-' : 'possible',
    OPERATIONS: ({ operations }) => operations.map(({ name }) => name).join(' '),
    NAME: ({ name }) => name,
  },
});

export const scienceEnable = serverCommand({
  words: ['science', 'enable'],
  summary: 'Let the tenant ask a source',
  positionals: [source],
  options: { 'key-stdin': { kind: 'flag', help: 'read the key of the source from standard input, one line' } },
  examples: ['svc science enable arxiv', 'svc science enable openalex --key-stdin < key.txt'],
  async run({ positionals: [id = ''], options: { 'key-stdin': isTyped }, client, terminal }) {
    const key = isTyped === true ? { key: (await readAll(process.stdin)).trim() } : {};
    const changed = await client.call('PATCH /api/v1/science/sources/{id}', { params: { id }, body: { enabled: true, ...key } });
    terminal.result(changed, `${changed.name} is enabled; its terms: ${changed.terms_url}`);
    return 'ok';
  },
});

export const scienceDisable = requestCommand({
  words: ['science', 'disable'],
  summary: 'Keep the tenant from asking a source, and forget its key',
  positionals: [source],
  examples: ['svc science disable arxiv'],
  route: 'PATCH /api/v1/science/sources/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id }, body: { enabled: false, key: null } }),
  text: ({ name }) => `${name} is disabled`,
});

export const scienceRequest = requestCommand({
  words: ['science', 'request'],
  summary: 'Ask the administrators of the tenant for a source',
  positionals: [source, { name: 'REASON', help: 'what it is for' }],
  examples: ['svc science request arxiv "for the literature of my thesis"'],
  route: 'POST /api/v1/science/sources/request',
  given: ({ positionals: [id = '', reason = ''] }) => ({ body: { source_id: id, reason } }),
  text: ({ request_id: id, state }) => `${id} is ${state}`,
});

export const scienceRequests = listCommand({
  words: ['science', 'requests'],
  summary: 'List requests for sources, newest first: your own, or all of the tenant for an administrator',
  examples: ['svc science requests'],
  route: 'GET /api/v1/science/sources/requests',
  isWhole: true,
  columns: {
    ID: ({ id }) => id,
    SOURCE: ({ source_id: id }) => id,
    STATE: ({ state }) => state,
    'ASKED BY': ({ owner }) => owner,
    REASON: ({ reason }) => reason,
  },
  empty: 'no requests',
});

export const scienceDecline = requestCommand({
  words: ['science', 'decline'],
  summary: 'Decline a request for a source',
  positionals: [{ name: 'ID', help: 'of the request, as `svc science requests` shows it' }],
  examples: ['svc science decline srq_0199a3b2-0000-7000-8000-000000000000'],
  route: 'DELETE /api/v1/science/sources/requests/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: (_, { positionals: [id] }) => `${id} is declined`,
});

export const scienceQuery = serverCommand({
  words: ['science', 'query'],
  summary: 'Search several sources at once; fails where none of them answered',
  positionals: [{ name: 'WORDS', help: 'what to look for' }],
  options: {
    source: { kind: 'texts', value: 'SOURCE', help: 'only these (default: all that are enabled); may be repeated' },
    category: { kind: 'text', value: 'CATEGORY', help: 'only sources of this category' },
    from: { kind: 'text', value: 'DATE', help: 'the earliest date, for example 2024-01-01' },
    to: { kind: 'text', value: 'DATE', help: 'the latest date' },
    limit: { kind: 'integer', value: 'NUMBER', min: 1, max: 200, help: 'records of each source (default 10)' },
    add: { kind: 'flag', help: 'add what is found to a knowledge base' },
    namespace: { kind: 'text', value: 'NAME', help: `the knowledge base of --add (default ${DEFAULT_NAMESPACE})` },
  },
  examples: [
    'svc science query "perovskite solar cells" --category literature --from 2024-01-01',
    'svc science query malaria --add',
  ],
  async run({ positionals: [query = ''], options, client, terminal }) {
    const { source: sources, category, from, to, limit, add: isAdded, namespace } = options;
    if (namespace !== undefined && isAdded !== true) throw usageError('--namespace is of --add', 'give both, or neither');
    const asked = { query, sources, category: category as Query['category'], from, to, limit };
    const { raw: _, ...found } = await client.call('POST /api/v1/science/query', { body: definedOf(asked) });
    for (const { source: failed, detail } of found.failures) terminal.note(printable(`${failed}: ${detail}`));
    const nAdded = isAdded === true ? await addAll(client, found.records, namespace ?? DEFAULT_NAMESPACE) : undefined;
    const table = found.records.length === 0 ? 'nothing was found' : tableOf(recordColumns, found.records);
    terminal.result(found, nAdded === undefined ? table : `${table}\n${nAdded} records were added`);
    return found.records.length === 0 && found.failures.length > 0 ? 'failed' : 'ok';
  },
});

/** Each is a document with what is to be cited of it. How many were added. */
async function addAll(client: Client, records: readonly Record[], namespace: string): Promise<number> {
  const tenant = await tenantOf(client);
  let nAdded = 0;
  for (const record of records) {
    const text = documentText(record);
    if (text.length < SHORTEST_DOCUMENT) continue;
    const address = record.url ?? `science:${record.source}/${record.id}`;
    await client.call('POST /api/v1/vector/ingest', {
      body: { tenant, namespace, text, source: address.slice(0, 500), title: record.title.slice(0, 300), format: 'text' },
    });
    nAdded += 1;
  }
  return nAdded;
}

function documentText({ title, creators, date, summary, doi, url, values = [], license, source: of }: Record): string {
  const lines = [
    title,
    creators.join('; '),
    date ?? '',
    summary ?? '',
    ...values.map(({ name, value, unit }) => `${name}: ${value}${unit === null ? '' : ` ${unit}`}`),
    doi === undefined ? '' : `DOI: ${doi}`,
    url ?? '',
    `Source: ${of}. License: ${license}.`,
  ];
  return lines.filter((line) => line !== '').join('\n');
}

function definedOf(query: { [K in keyof Query]?: Query[K] | undefined } & { query: string }): Query {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as Query;
}
