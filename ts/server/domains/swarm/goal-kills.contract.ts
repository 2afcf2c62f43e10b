/** Goals of ten steps whose nodes are killed at any moment, on both databases, on PostgreSQL two nodes at a time. SVC_TEST_KILLS sets how many times. */
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { iterations } from '../../../../test/test-support/iterations.ts';
import { random } from '../../../../test/test-support/seed.ts';
import { type Dialect, type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { LineReader } from '../../platform/storage/test-support/line-reader.ts';
import { CALL_MS, type GoalLine, kindOf, N_STEPS, TOKENS_OF_ANSWER } from './test-support/goal-worker.ts';

const nKills = iterations(4, 20, 'SVC_TEST_KILLS');
/** A life says more lines than that of its own goal alone. */
const MOST_LINES = 25;
/** A life of the process, its start included, on a busy machine. */
const LIFE_LIMIT_MS = 30_000;
const program = new URL('./test-support/goal-worker.ts', import.meta.url).pathname;

function startWorker(t: Test, args: readonly string[]) {
  // Starting is most of what a life costs: what was compiled is kept for the next one.
  const NODE_COMPILE_CACHE = join(tmpdir(), 'svc-compiled-goal-worker');
  const env = { ...process.env, NODE_COMPILE_CACHE, SVC_TEST_SEED: String(random.integer(2 ** 31)) };
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'], env });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, output: new LineReader<GoalLine>(child) };
}

function testKills(t: Test, newDatabase: NewDatabase, dialect: Dialect): void {
  t.test(`after ${nKills} kills nothing was done twice, and what nobody knows of is unknown`, async (t) => {
    const url = await newUrl(t, newDatabase);
    const nodes = dialect === 'postgres' ? ['node-1', 'node-2'] : ['node-1'];
    const lines: GoalLine[] = [];
    const live = async (node: string): Promise<void> => {
      for (let i = 0; i < nKills / nodes.length; i += 1) {
        const { child, output } = startWorker(t, [url, node, '1']);
        const set = await output.find((line) => line.set !== undefined);
        await output.find(() => true, output.lines.indexOf(set) + random.integer(MOST_LINES));
        await wait(random.next() * CALL_MS);
        child.kill('SIGKILL');
        await output.ended;
        lines.push(...output.lines);
      }
    };
    await Promise.all(nodes.map(live));
    const last = startWorker(t, [url, 'node-1', '1']);
    last.child.stdin?.end();
    await last.output.ended;
    lines.push(...last.output.lines);
    checkGoals(
      t,
      lines.toSorted((a, b) => a.at - b.at),
    );
  });
}

/** @param lines of all processes, in the order in which they came. */
function checkGoals(t: Test, lines: readonly GoalLine[]): void {
  const ended = lines.flatMap((line) => line.ended ?? []);
  const set = lines.flatMap((line) => line.set ?? []);
  t.ok(
    ended.length >= nKills && set.every((mark) => ended.some((goal) => goal.mark === mark)),
    `${ended.length} goals, none is lost`,
  );
  t.ok(
    ended.every(({ state, steps }) => state === 'done' && steps.every((step) => step === 'done')),
    'each is done',
  );
  const unknown = new Set(lines.flatMap((line) => line.unknown ?? []));
  const did = Map.groupBy(
    lines.flatMap((line) => line.did ?? []),
    (step) => step,
  );
  const nDid = (step: string): number => did.get(step)?.length ?? 0;
  const steps = ended.flatMap(({ mark }) =>
    Array.from({ length: N_STEPS }, (_, i) => ({ mark: `${mark} ${i + 1}`, kind: kindOf(i + 1) })),
  );
  const acting = steps.filter(({ kind }) => kind !== 'test.read');
  t.strictSame(
    acting.filter(({ mark }) => nDid(mark) > 1),
    [],
    'no call that acts was made twice',
  );
  t.strictSame(
    acting.filter(({ mark }) => nDid(mark) === 0 && !unknown.has(mark)),
    [],
    'one that was not made is of a step that was unknown',
  );
  t.strictSame(
    steps.filter(({ mark, kind }) => kind === 'test.read' && (unknown.has(mark) || nDid(mark) === 0)),
    [],
    'calls that read are made again, and are never unknown',
  );
  t.strictSame(listRepeated(lines), [], 'no step ran again behind its result');
  const approvals = lines.flatMap((line) => line.approval ?? []);
  const asking = steps.filter(({ kind }) => kind === 'test.destroy');
  const used = (step: string): number => approvals.filter(({ state, text }) => state === 'used' && text === step).length;
  t.strictSame(
    asking.filter(({ mark }) => used(mark) < nDid(mark) || used(mark) > 1 || (used(mark) === 0 && !unknown.has(mark))),
    [],
    'each approval served once, and none was lost',
  );
  t.strictSame(
    ended.filter(({ mark, tokens }) => tokens < TOKENS_OF_ANSWER * lines.filter(({ answered }) => answered === mark).length),
    [],
    'tokens are never under-counted',
  );
  t.comment(`${ended.length} goals, ${unknown.size} steps were unknown, ${steps.length} in all`);
}

/** Steps whose call was made although their model had been asked with its result before. */
function listRepeated(lines: readonly GoalLine[]): string[] {
  const told = new Set<string>();
  return lines.flatMap((line) => {
    if (line.told !== undefined) told.add(line.told);
    return line.did !== undefined && told.has(line.did) ? [line.did] : [];
  });
}

onEachDatabase(testKills, { timeoutMs: 120_000 + nKills * LIFE_LIMIT_MS });
