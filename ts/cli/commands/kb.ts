/** `svc kb`: knowledge bases of a running server, listed, searched and removed. */
import type { Answer } from '../../client/client.ts';
import { CliError, usageError } from '../cli-error.ts';
import { type Columns, formatBytes, printable, tableOf } from '../format.ts';
import {
  DEFAULT_NAMESPACE,
  documentsOf,
  namespaceOption,
  placeOf,
  type StoredDocument,
  tenantOf,
} from '../knowledge/knowledge-client.ts';
import { requestCommand, serverCommand } from '../server-command.ts';

const baseColumns: Columns<Answer<'GET /api/v1/vector/namespaces/{tenant}'>['data'][number]> = {
  NAMESPACE: ({ namespace }) => namespace,
  DOCUMENTS: ({ documents }) => documents,
  PASSAGES: ({ chunks }) => chunks,
  TEXT: ({ bytes }) => formatBytes(bytes),
  'EMBEDDING MODEL': ({ embedding_model: model }) => model,
};
const documentColumns: Columns<StoredDocument> = {
  ID: ({ id }) => id,
  PASSAGES: ({ chunks }) => chunks,
  SOURCE: ({ source }) => source,
};

export const kbList = serverCommand({
  words: ['kb', 'list'],
  summary: 'List the knowledge bases, or the documents of one',
  positionals: [{ name: 'NAMESPACE', help: 'the knowledge base whose documents to list', optional: true }],
  examples: ['svc kb list', 'svc kb list default'],
  async run({ positionals: [namespace], client, terminal }) {
    const tenant = await tenantOf(client);
    if (namespace === undefined) {
      const { data } = await client.call('GET /api/v1/vector/namespaces/{tenant}', { params: { tenant } });
      terminal.result(data, data.length === 0 ? 'no knowledge bases; `svc kb add` makes one' : tableOf(baseColumns, data));
      return 'ok';
    }
    const documents = await documentsOf(client, tenant, namespace);
    terminal.result(documents, tableOf(documentColumns, documents));
    return 'ok';
  },
});

export const kbSearch = requestCommand({
  words: ['kb', 'search'],
  summary: 'Find passages of a knowledge base, without a model that answers',
  positionals: [{ name: 'WORDS', help: 'what to look for', many: true }],
  options: {
    ...namespaceOption,
    'top-k': { kind: 'integer', value: 'N', min: 1, max: 100, help: 'passages (default: 5)' },
    mode: {
      kind: 'choice',
      choices: ['hybrid', 'lexical', 'dense'],
      help: 'by words and meaning, or by one of them (default: hybrid)',
    },
    source: { kind: 'texts', value: 'SOURCE', help: 'only this document; may be given several times' },
    tag: { kind: 'texts', value: 'TAG', help: 'only documents with this tag; may be given several times' },
    from: { kind: 'text', value: 'TIME', help: 'only documents of this date or later: 2026-01-31, or with a time' },
    to: { kind: 'text', value: 'TIME', help: 'only documents of an earlier date' },
  },
  examples: ['svc kb search "how are backups made?"', 'svc kb search backups --tag handbook --from 2026-01-01'],
  route: 'POST /api/v1/vector/search',
  given: async ({ options, positionals, client }) => {
    const { mode, source: sources, tag: tags, from, to, namespace = DEFAULT_NAMESPACE, 'top-k': topK = 5 } = options;
    const asked = { tenant: await tenantOf(client), namespace, query: positionals.join(' '), top_k: topK };
    return { body: { ...asked, mode, sources, tags, from: timeOf(from), to: timeOf(to) } };
  },
  text: ({ results }) =>
    results
      .map((row, i) => `[${i + 1}] ${printable(placeOf(row))}  (${row.score.toFixed(3)})\n${printable(row.text)}`)
      .join('\n\n') || 'nothing found',
  record: ({ results }) => results,
});

export const kbRm = serverCommand({
  words: ['kb', 'rm'],
  summary: 'Delete a document of a knowledge base, or all of it',
  positionals: [
    { name: 'NAMESPACE', help: 'the knowledge base' },
    { name: 'SOURCE', help: 'source or id of the document to delete; without one, --all must be given', optional: true },
  ],
  options: { all: { kind: 'flag', help: 'delete the knowledge base with all its documents' } },
  examples: ['svc kb rm default docs/old.md', 'svc kb rm default --all'],
  async run({ positionals: [namespace = '', source], options, client, terminal }) {
    if ((source === undefined) !== (options.all === true))
      throw usageError('it is not clear what to delete', 'name a document, or give --all to delete the whole knowledge base');
    const tenant = await tenantOf(client);
    if (source === undefined) {
      await client.call('DELETE /api/v1/vector/namespaces/{tenant}/{namespace}/documents', { params: { tenant, namespace } });
      terminal.result({ namespace, deleted: true }, `${printable(namespace)} is deleted`);
      return 'ok';
    }
    const documents = await documentsOf(client, tenant, namespace);
    const document = documents.find((row) => row.source === source || row.id === source);
    if (document === undefined) throw documentNotFound(namespace, source);
    const params = { tenant, namespace, id: document.id };
    await client.call('DELETE /api/v1/vector/documents/{tenant}/{namespace}/{id}', { params });
    terminal.result({ ...document, deleted: true }, `${printable(document.source)} is deleted`);
    return 'ok';
  },
});

export const kbRebuild = requestCommand({
  words: ['kb', 'rebuild'],
  summary: 'Make the index of a knowledge base anew from what is stored, while the one that is there serves',
  positionals: [{ name: 'NAMESPACE', help: 'the knowledge base' }],
  route: 'POST /api/v1/vector/namespaces/{tenant}/{namespace}/rebuild',
  given: async ({ positionals: [namespace = ''], client }) => ({ params: { tenant: await tenantOf(client), namespace } }),
  text: (base) => {
    const note = base.rebuilding ? '\nIt goes on in the background, and the index that was there serves meanwhile.' : '';
    return tableOf(baseColumns, [base]) + note;
  },
});

function documentNotFound(namespace: string, source: string): CliError {
  const remedy = 'svc kb list NAMESPACE shows them';
  return new CliError('not_found', 'document_not_found', `${namespace} has no document "${source}"`, remedy);
}

/** A date is its first moment in UTC; what is no time is the server's to refuse. */
function timeOf(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
}
