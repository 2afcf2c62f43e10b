/** `svc memory`: what people asked a running node to remember. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer, Body, Client } from '../../client/client.ts';
import { printable } from '../format.ts';
import { hasEnded, jobText } from '../job.ts';
import { listCommand, requestCommand, serverCommand } from '../server-command.ts';

type NewMemory = Body<'POST /api/v1/memory/memories'>;

const KINDS = 'fact, preference, episode or summary';
const id = { name: 'ID', help: 'of the memory, as `svc memory list` shows it' };

export const memoryList = listCommand({
  words: ['memory', 'list'],
  summary: 'List your memories and those of the tenant, newest first',
  options: { include: { kind: 'text', value: 'STATE', help: 'those that are superseded or archived, too' } },
  examples: ['svc memory list', 'svc memory list --include superseded'],
  route: 'GET /api/v1/memory/memories',
  given: ({ options: { include } }) => ({
    query: include === undefined ? {} : { include: include as 'superseded' | 'archived' },
  }),
  isWhole: true,
  columns: {
    ID: ({ id: of }) => of,
    OWNER: ({ owner }) => owner,
    KIND: ({ kind }) => kind,
    SINCE: ({ valid_from: since }) => since.slice(0, 10),
    STATE: ({ state, pinned }) => (pinned ? `${state}, pinned` : state),
    TEXT: ({ text }) => text,
  },
  empty: 'no memories',
});

export const memoryAdd = requestCommand({
  words: ['memory', 'add'],
  summary: 'Have something remembered',
  positionals: [{ name: 'TEXT', help: 'one statement' }],
  options: {
    kind: { kind: 'text', value: 'KIND', help: `${KINDS} (default fact)` },
    subject: { kind: 'text', value: 'SUBJECT', help: 'whom or what it is about' },
    tenant: { kind: 'flag', help: 'a memory of the whole tenant' },
  },
  examples: ['svc memory add "I live in Berlin"', 'svc memory add "The canteen opens at noon" --tenant'],
  route: 'POST /api/v1/memory/memories',
  given: ({ positionals: [text = ''], options: { kind, subject, tenant: isOfTenant } }) => ({
    body: {
      text,
      ...(kind !== undefined && { kind: kind as NonNullable<NewMemory['kind']> }),
      ...(subject !== undefined && { subject }),
      ...(isOfTenant === true && { owner: 'tenant' as const }),
    },
  }),
  text: ({ id: of, text }) => printable(`${of} is remembered: ${text}`),
});

export const memorySearch = listCommand({
  words: ['memory', 'search'],
  summary: 'Find memories by words and by meaning, the best first',
  positionals: [{ name: 'QUERY', help: 'what to look for' }],
  options: { max: { kind: 'integer', value: 'NUMBER', min: 1, max: 50, help: 'how many (default 10)' } },
  examples: ['svc memory search "where do I live"'],
  route: 'POST /api/v1/memory/memories/search',
  given: ({ positionals: [query = ''], options: { max } }) => ({ body: { query, ...(max !== undefined && { max }) } }),
  columns: {
    SCORE: ({ score }) => score.toFixed(2),
    ID: ({ id: of }) => of,
    OWNER: ({ owner }) => owner,
    SINCE: ({ valid_from: since }) => since.slice(0, 10),
    TEXT: ({ text }) => text,
  },
  empty: 'nothing is remembered about it',
});

export const memoryForget = requestCommand({
  words: ['memory', 'forget'],
  summary: 'Erase a memory, with those that say the same',
  positionals: [id],
  examples: ['svc memory forget mem_0199a3b2-0000-7000-8000-000000000000'],
  route: 'DELETE /api/v1/memory/memories/{id}',
  given: ({ positionals: [of = ''] }) => ({ params: { id: of } }),
  text: ({ deleted, files, files_unread: areUnread }) => {
    const forgotten = deleted === 1 ? 'it is forgotten' : `${deleted} memories are forgotten`;
    if (areUnread === true) return `${forgotten}; memory files could not be read, and may still hold it`;
    return printable(files.length === 0 ? forgotten : `${forgotten}; still in ${files.join(', ')}`);
  },
});

export const memoryDream = serverCommand({
  words: ['memory', 'dream'],
  summary: 'Have your memories put in order, and wait for it',
  options: {
    tenant: { kind: 'flag', help: 'the memories of the whole tenant' },
    'dry-run': { kind: 'flag', help: 'change nothing, and say what would be' },
    step: {
      kind: 'texts',
      value: 'STEP',
      help: 'only these of duplicates, contradictions, summaries, decay, archive, slots; may be repeated',
    },
  },
  examples: ['svc memory dream --dry-run', 'svc memory dream'],
  async run({ options: { tenant, 'dry-run': isDry, step: steps }, client, terminal }) {
    const body = {
      ...(tenant === true && { owner: 'tenant' as const }),
      ...(isDry === true && { dry_run: true }),
      ...(steps !== undefined && { steps: steps as NonNullable<Body<'POST /api/v1/memory/dream'>['steps']> }),
    };
    const { dream_id: dreamId } = await client.call('POST /api/v1/memory/dream', { body });
    const dream = await dreamEnd(client, dreamId);
    const done = Object.entries(dream.report?.changed ?? {}).map(([name, n]) => `${name}: ${n}`);
    if (dream.report?.slots !== undefined) done.push(`learned ${dream.report.slots} slots`);
    for (const { step, reason } of dream.report?.skipped ?? []) terminal.note(`${step}: ${reason}`);
    terminal.result(
      dream,
      printable(`${dreamId} ${dream.state}; ${isDry === true ? 'would change' : 'changed'} ${done.join(', ')}`),
    );
    return dream.state === 'done' ? 'ok' : 'failed';
  },
});

export const memoryUndo = requestCommand({
  words: ['memory', 'undo'],
  summary: 'Undo a dream, or some of its changes',
  positionals: [{ name: 'DREAM', help: 'as `svc memory dream` says it' }],
  options: { change: { kind: 'texts', value: 'ID', help: 'only these changes; may be repeated' } },
  examples: ['svc memory undo drm_0199a3b2-0000-7000-8000-000000000000'],
  route: 'POST /api/v1/memory/dreams/{id}/undo',
  given: ({ positionals: [of = ''], options: { change: changes } }) => ({
    params: { id: of },
    body: changes === undefined ? {} : { changes: [...changes] },
  }),
  text: ({ undone, skipped }) =>
    `${undone.length} changes are undone${skipped.length === 0 ? '' : `, ${skipped.length} were skipped`}`,
});

const file = { name: 'FILE', help: 'NAME.exmm, in data_dir/memory/TENANT of the node' };

export const memoryExport = serverCommand({
  words: ['memory', 'export'],
  summary: 'Export your memories into a file of the node, and wait for it',
  positionals: [file],
  options: {
    tenant: { kind: 'flag', help: 'the memories of the whole tenant' },
    kind: { kind: 'texts', value: 'KIND', help: `only these of ${KINDS}; may be repeated` },
  },
  examples: ['svc memory export mine.exmm', 'svc memory export all.exmm --tenant --kind fact'],
  async run({ positionals: [name = ''], options: { tenant, kind: kinds }, client, terminal }) {
    const body = {
      file: name,
      ...(tenant === true && { owner: 'tenant' as const }),
      ...(kinds !== undefined && { kinds: kinds as NonNullable<NewMemory['kind']>[] }),
    };
    const { job_id: jobId } = await client.call('POST /api/v1/exmm/export', { body });
    for (;;) {
      const job = await client.call('GET /api/v1/system/jobs/{id}', { params: { id: jobId } });
      if (hasEnded(job)) {
        terminal.result(job, jobText(job));
        return job.state === 'done' ? 'ok' : 'failed';
      }
      await wait(LOOK_MS);
    }
  },
});

export const memoryLoad = requestCommand({
  words: ['memory', 'load'],
  summary: 'Import what a file of the node has of you, or search what it has of the tenant',
  positionals: [file],
  options: { attach: { kind: 'flag', help: 'search what it has of the tenant, and import nothing' } },
  examples: ['svc memory load mine.exmm', 'svc memory load all.exmm --attach'],
  route: 'POST /api/v1/retrieve/load',
  given: ({ positionals: [name = ''], options: { attach: isAttached } }) => ({
    body: { file: name, mode: isAttached === true ? ('attach' as const) : ('import' as const) },
  }),
  text: ({ loaded, skipped }) =>
    printable([`${loaded} memories are loaded`, ...skipped.map(({ section, reason }) => `${section}: ${reason}`)].join('\n')),
});

const LOOK_MS = 500;

async function dreamEnd(client: Client, id: string): Promise<Answer<'GET /api/v1/memory/dreams/{id}'>> {
  for (;;) {
    const dream = await client.call('GET /api/v1/memory/dreams/{id}', { params: { id } });
    if (dream.ended_at !== null) return dream;
    await wait(LOOK_MS);
  }
}
