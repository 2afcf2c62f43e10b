/** `svc kb`: knowledge bases of a running server, listed, searched and removed. */
import { CliError, usageError } from '../cli-error.ts';
import { command } from '../command.ts';
import { formatBytes, formatTable, printable } from '../format.ts';
import { type BaseRow, DEFAULT_NAMESPACE, KnowledgeClient, namespaceOption, placeOf } from '../knowledge/knowledge-client.ts';
import { clientOptions, ServerClient } from '../server-client.ts';

export const kbList = command({
  words: ['kb', 'list'],
  summary: 'List the knowledge bases, or the documents of one',
  positionals: [{ name: 'NAMESPACE', help: 'the knowledge base whose documents to list', optional: true }],
  options: clientOptions,
  examples: ['svc kb list', 'svc kb list default'],
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const client = await KnowledgeClient.open(ServerClient.from(invocation), signal);
    const [namespace] = positionals;
    if (namespace === undefined) {
      const bases = await client.list();
      terminal.result(bases, bases.length === 0 ? 'no knowledge bases; `svc kb add` makes one' : tableOf(bases));
      return 'ok';
    }
    const documents = await client.documents(namespace);
    const rows = documents.map(({ id, source, chunks }) => [id, String(chunks), printable(source)]);
    terminal.result(documents, formatTable(['ID', 'PASSAGES', 'SOURCE'], rows));
    return 'ok';
  },
});

export const kbSearch = command({
  words: ['kb', 'search'],
  summary: 'Find passages of a knowledge base, without a model that answers',
  positionals: [{ name: 'WORDS', help: 'what to look for', many: true }],
  options: {
    ...clientOptions,
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
  async run(invocation) {
    const { options, positionals, terminal, signal } = invocation;
    const client = await KnowledgeClient.open(ServerClient.from(invocation), signal);
    const { mode, source: sources, tag: tags, from, to, namespace = DEFAULT_NAMESPACE, 'top-k': topK = 5 } = options;
    const narrowed = { mode, sources, tags, from: timeOf(from), to: timeOf(to) };
    const { results: found } = await client.find(namespace, positionals.join(' '), topK, narrowed);
    const shown = found.map(
      (row, i) => `[${i + 1}] ${printable(placeOf(row))}  (${row.score.toFixed(3)})\n${printable(row.text)}`,
    );
    terminal.result(found, shown.length === 0 ? 'nothing found' : shown.join('\n\n'));
    return 'ok';
  },
});

export const kbRm = command({
  words: ['kb', 'rm'],
  summary: 'Delete a document of a knowledge base, or all of it',
  positionals: [
    { name: 'NAMESPACE', help: 'the knowledge base' },
    { name: 'SOURCE', help: 'source or id of the document to delete; without one, --all must be given', optional: true },
  ],
  options: { ...clientOptions, all: { kind: 'flag', help: 'delete the knowledge base with all its documents' } },
  examples: ['svc kb rm default docs/old.md', 'svc kb rm default --all'],
  async run(invocation) {
    const { options, positionals, terminal, signal } = invocation;
    const [namespace = '', source] = positionals;
    if ((source === undefined) !== (options.all === true))
      throw usageError('it is not clear what to delete', 'name a document, or give --all to delete the whole knowledge base');
    const client = await KnowledgeClient.open(ServerClient.from(invocation), signal);
    if (source === undefined) {
      await client.removeBase(namespace);
      terminal.result({ namespace, deleted: true }, `${printable(namespace)} is deleted`);
      return 'ok';
    }
    const document = (await client.documents(namespace)).find((row) => row.source === source || row.id === source);
    if (document === undefined)
      throw new CliError(
        'not_found',
        'document_not_found',
        `${namespace} has no document "${source}"`,
        'svc kb list NAMESPACE shows them',
      );
    await client.removeDocument(namespace, document.id);
    terminal.result({ ...document, deleted: true }, `${printable(document.source)} is deleted`);
    return 'ok';
  },
});

export const kbRebuild = command({
  words: ['kb', 'rebuild'],
  summary: 'Make the index of a knowledge base anew from what is stored, while the one that is there serves',
  positionals: [{ name: 'NAMESPACE', help: 'the knowledge base' }],
  options: clientOptions,
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const client = await KnowledgeClient.open(ServerClient.from(invocation), signal);
    const base = await client.rebuild(positionals[0] ?? '');
    const note = base.rebuilding ? '\nIt goes on in the background, and the index that was there serves meanwhile.' : '';
    terminal.result(base, tableOf([base]) + note);
    return 'ok';
  },
});

/** A date is its first moment in UTC; what is no time is the server's to refuse. */
function timeOf(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
}

function tableOf(bases: readonly BaseRow[]): string {
  const rows = bases.map(({ namespace, documents, chunks, embedding_model: model, bytes }) => [
    ...[printable(namespace), String(documents), String(chunks), formatBytes(bytes), printable(model)],
  ]);
  return formatTable(['NAMESPACE', 'DOCUMENTS', 'PASSAGES', 'TEXT', 'EMBEDDING MODEL'], rows);
}
