/**
 * Durable steps a second, in a process of its own: goals of ours whose model answers at once, or workflows of DBOS whose steps do nothing, all begun
 * together on a PostgreSQL of its own. For `npm run bench -- agents`. Prints one sample as JSON.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import type { StepsJob } from '../../bench/agents/agent-load.ts';
import type { Sample } from '../../bench/trial.ts';
import { ann, openGoals, plan } from '../../ts/server/domains/swarm/test-support/goal-bed.ts';
import { PostgresCluster } from '../../ts/server/platform/storage/test-support/postgres-cluster.ts';

const { dbosFolder, load } = JSON.parse(process.argv[2] ?? '') as StepsJob;
const { goals, steps } = load;
const missing = PostgresCluster.missing();
if (missing !== undefined) throw new Error(missing);
const cluster = await PostgresCluster.startOwn();
const databaseUrl = await cluster.newDatabase();
try {
  const sample = dbosFolder === undefined ? await ofGoals() : await ofDbos(dbosFolder);
  process.stdout.write(JSON.stringify(sample));
} finally {
  await cluster.remove();
}
process.exit(0);

async function ofGoals(): Promise<Sample> {
  const t = { teardown: () => undefined } as unknown as Test;
  const written = Array.from({ length: steps }, (_, i) => ({ instruction: `Step ${i}`, needs: i === 0 ? [] : [i] }));
  const bed = await openGoals(t, databaseUrl, { plan: plan(...written), say: () => ({ content: 'done' }) });
  return await timed(async () => {
    const made = await Promise.all(Array.from({ length: goals }, () => bed.make(ann, { tools: [], until: 'execute' })));
    await Promise.all(made.map(({ id }) => bed.until(ann, id, 'done')));
  });
}

async function ofDbos(folder: string): Promise<Sample> {
  const { resolve } = createRequire(join(folder, 'package.json'));
  const { DBOS } = await import(pathToFileURL(resolve('@dbos-inc/dbos-sdk')).href);
  // Its check of the address wants a host and a user, though the socket's folder is the host.
  const address = new URL(databaseUrl.replace(/^postgres(ql)?:\/\/[^/]*/, 'postgresql://svc@localhost'));
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: address.href, logLevel: 'error', runAdminServer: false });
  const workflow = DBOS.registerWorkflow(
    async () => {
      for (let i = 0; i < steps; i += 1) await DBOS.runStep(async () => 'done', { name: `step${i}` });
    },
    { name: 'steps' },
  );
  await DBOS.launch();
  return await timed(async () => {
    const begun = await Promise.all(Array.from({ length: goals }, () => DBOS.startWorkflow(workflow)()));
    await Promise.all(begun.map((handle: { getResult(): Promise<void> }) => handle.getResult()));
  });
}

/** A first round makes the tables, and compiles what runs. */
async function timed(work: () => Promise<void>): Promise<Sample> {
  await work();
  const startedAt = performance.now();
  await work();
  return { stepsPerSecond: (goals * steps * 1000) / (performance.now() - startedAt) };
}
