/**
 * A node that is made to be killed: it loads a memory file, dreams and consolidates, again and again, and prints a JSON line for each of these that it has done.
 * Usage: node memory-worker.ts URL DATA_DIR. When its stdin ends, it does each once more, says what is remembered, and ends.
 */
import type { Test } from 'tap';
import { until } from '../../../platform/jobs/test-support/open-jobs.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import { callerOf, openMemory } from './memory-bed.ts';

export interface MemoryLine {
  /** The node answers. */
  ready?: true;
  did?: 'load' | 'dream' | 'consolidate';
  /** All memories of the account, in every state. */
  remembered?: readonly { text: string; state: string; superseded_by: string | null; id: string }[];
}

export const ANN = callerOf('ann', 'developer');

if (process.argv[1] === import.meta.filename) await work();

async function work(): Promise<void> {
  const [, , databaseUrl = '', dataDir = ''] = process.argv;
  const teardowns: (() => unknown)[] = [];
  const t = { teardown: (each: () => unknown) => void teardowns.push(each) } as unknown as Test;
  const say = (line: MemoryLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
  const bed = await openMemory(t, { databaseUrl, dataDir });
  const call = (method: string, path: string, body?: object) =>
    bed.send(method, `/api/v1/${path}`, { headers: { 'x-as': JSON.stringify(ANN) }, body });
  const isOver = ({ state }: { state: string }): boolean => state !== 'queued' && state !== 'running';
  const endOf = async (id: string) => await until(() => bed.jobs.get(tenantScope('red'), id), isOver, 60_000);
  let isEnding = false;
  process.stdin.resume();
  process.stdin.once('end', () => {
    isEnding = true;
  });
  const load = async (): Promise<void> => {
    const { status, text } = await call('POST', 'retrieve/load', { file: 'source.exmm', mode: 'import' });
    if (status !== 200) throw new Error(text);
    say({ did: 'load' });
  };
  const dream = async (): Promise<void> => {
    // A dream that an earlier life began goes on by itself.
    const { status, body } = await call('POST', 'memory/dream', { steps: ['duplicates', 'contradictions'] });
    if (status === 409)
      await until(
        () => call('GET', 'memory/dreams'),
        (answer) => answer.body.data.every(isOver),
        60_000,
      );
    else await endOf(body.job_id);
    say({ did: 'dream' });
  };
  const consolidate = async (): Promise<void> => {
    await endOf((await call('POST', 'exmm/export', { file: 'target.exmm' })).body.job_id);
    const given = { file: 'target.exmm', with: ['source.exmm', 'other.exmm'] };
    await endOf((await call('POST', 'exmm/consolidate', given)).body.job_id);
    say({ did: 'consolidate' });
  };
  say({ ready: true });
  for (let isLast = false; !isLast; ) {
    isLast = isEnding;
    await Promise.all([load(), dream(), consolidate()]);
    if (isLast) await dream();
  }
  const lists = await Promise.all(
    ['superseded', 'archived'].map((state) => call('GET', `memory/memories?limit=1000&include=${state}`)),
  );
  const rows = new Map(
    lists.flatMap(({ body }) => body.data as NonNullable<MemoryLine['remembered']>).map((row) => [row.id, row]),
  );
  say({ remembered: [...rows.values()] });
  for (const teardown of teardowns.toReversed()) await teardown();
}
