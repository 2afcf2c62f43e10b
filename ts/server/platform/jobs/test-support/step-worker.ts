/**
 * A node that is made to be killed: enqueues jobs of several steps and runs them, and prints a JSON line for each thing that happened.
 * Usage: node step-worker.ts URL NODE JOBS LEASE_MS. When its stdin ends, it goes on until no job is open, and ends.
 */
import { setTimeout as wait } from 'node:timers/promises';
import Type from 'typebox';
import { SeededRandom } from '../../../../../models/random/seeded-random.ts';
import { Log } from '../../log/log.ts';
import { MetricsRegistry } from '../../metrics/registry.ts';
import { createStorage, tenantScope } from '../../storage/index.ts';
import { Jobs } from '../jobs.ts';
import { jobsMigrations } from '../store/migrations.ts';

export interface WorkerLine {
  /** Microseconds by a clock that all processes of the machine share. */
  at: number;
  enqueued?: string;
  /** A job's step, as `id step`. */
  began?: string;
  acknowledged?: string;
  /** A step that must not be done twice. */
  charged?: string;
}

const N_STEPS = 6;
const STEP_MS = 4;
const [, , url = '', node = '', nJobs = '0', leaseMs = '30000'] = process.argv;
const scope = tenantScope('red');
const random = new SeededRandom(Number(process.env['SVC_TEST_SEED'] ?? 0));
function say(line: Omit<WorkerLine, 'at'>): void {
  process.stdout.write(`${JSON.stringify({ ...line, at: Number(process.hrtime.bigint() / 1000n) })}\n`);
}

const log = new Log({ level: 'error', format: 'json', sink: { write: () => {}, flush: () => {} } });
const storage = createStorage({ url, modules: [jobsMigrations] });
await storage.open();
const jobs = new Jobs({
  storage,
  log,
  metrics: new MetricsRegistry(),
  nodeId: () => node,
  maxRunning: 4,
  pollMs: 20,
  leaseMs: Number(leaseMs),
});

const repeatable = jobs.define({
  name: 'test.repeatable',
  input: Type.Object({}),
  step: Type.Integer(),
  run: async ({ id, checkpoint = 0, saveStep }) => {
    for (let step = checkpoint + 1; step <= N_STEPS; step += 1) {
      say({ began: `${id} ${step}` });
      await wait(random.next() * STEP_MS);
      await saveStep(step);
      say({ acknowledged: `${id} ${step}` });
    }
    return N_STEPS;
  },
});
const charging = jobs.define({
  name: 'test.charging',
  input: Type.Object({}),
  run: async ({ id, beginStep, saveStep, checkpoint }) => {
    if (checkpoint === 'charged') return;
    await beginStep('charge');
    say({ charged: id });
    await wait(random.next() * STEP_MS);
    await saveStep('charged');
    await wait(random.next() * STEP_MS);
  },
});

await jobs.start();
repeatable.start();
charging.start();
process.stdin.resume();
const isAskedToEnd = new Promise<void>((resolve) => process.stdin.once('end', resolve));
for (let i = 0; i < Number(nJobs); i += 1) {
  const queue = i % 2 === 0 ? repeatable : charging;
  say({ enqueued: (await queue.enqueue(scope, {})).id });
}
await isAskedToEnd;
for (const state of ['queued', 'running'] as const)
  while ((await jobs.list(scope, { state, limit: 1 })).length > 0) await wait(10);
await jobs.stop();
await storage.close();
