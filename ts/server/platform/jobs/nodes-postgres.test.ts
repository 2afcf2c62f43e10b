import t from 'tap';
import Type from 'typebox';
import { tenantScope } from '../storage/index.ts';
import { PostgresCluster } from '../storage/test-support/postgres-cluster.ts';
import { openJobs, until } from './test-support/open-jobs.ts';
import { checkJobs, startWorker } from './test-support/worker-process.ts';

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else await testNodes(await PostgresCluster.start());

async function testNodes(cluster: PostgresCluster): Promise<void> {
  t.teardown(() => cluster.remove());
  t.setTimeout(120_000);
  const red = tenantScope('red');

  t.test('two nodes share the jobs of one database, and each job runs once', async (t) => {
    const url = await cluster.newDatabase();
    const ran: string[] = [];
    const nodes = new Set<string>();
    const bothHaveSome = Promise.withResolvers<void>();
    const open = async (nodeId: string) => {
      const { jobs } = await openJobs(t, url, { nodeId: () => nodeId, maxRunning: 4 });
      const run = async ({ id }: { id: string }) => {
        ran.push(id);
        nodes.add(nodeId);
        if (nodes.size === 2) bothHaveSome.resolve();
        await bothHaveSome.promise;
      };
      return { jobs, queue: jobs.define({ name: 'test.share', input: Type.Object({}), run }) };
    };
    const [one, two] = [await open('node-1'), await open('node-2')];
    await Promise.all(Array.from({ length: 100 }, () => one.queue.enqueue(red, {})));
    await Promise.all([one.jobs.start(), two.jobs.start()]);
    one.queue.start();
    two.queue.start();
    await until(
      () => two.jobs.list(red),
      (all) => all.every(({ state }) => state === 'done'),
    );
    t.equal(ran.length, 100);
    t.equal(new Set(ran).size, 100);
  });

  t.test('a job that runs elsewhere is cancelled and followed from here', async (t) => {
    const url = await cluster.newDatabase();
    const open = async (nodeId: string) => {
      const { jobs } = await openJobs(t, url, { nodeId: () => nodeId });
      const run = ({ signal, progress }: { signal: AbortSignal; progress(of: { done: number }): void }) => {
        progress({ done: 3 });
        return new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      };
      const queue = jobs.define({ name: 'test.wait', input: Type.Object({}), run });
      await jobs.start();
      return { jobs, queue };
    };
    const [here, there] = [await open('node-1'), await open('node-2')];
    there.queue.start();
    const { id } = await here.queue.enqueue(red, {});
    const heard: string[] = [];
    await here.jobs.follow(red, id, ({ state, progress }) => heard.push(`${state} ${progress?.done ?? '-'}`));
    await until(
      () => heard,
      (states) => states.includes('running 3'),
    );
    await here.jobs.cancel(red, id);
    await until(
      () => heard,
      (states) => states.at(-1) === 'cancelled 3',
    );
  });

  t.test('a node that stands still loses its jobs to another, and does no more of them when it wakes', async (t) => {
    const url = await cluster.newDatabase();
    // Many of them are open yet when the last is seen to be enqueued, however late this process sees it.
    const nJobs = 60;
    const still = startWorker(t, [url, 'node-1', String(nJobs), '1000']);
    await until(
      async () => still.output.lines,
      (seen) =>
        seen.filter(({ enqueued }) => enqueued !== undefined).length === nJobs && seen.some(({ acknowledged }) => acknowledged),
    );
    still.child.kill('SIGSTOP');
    const other = startWorker(t, [url, 'node-2', '0', '1000']);
    other.child.stdin?.end();
    await other.output.ended;
    const wokeAt = Number(process.hrtime.bigint() / 1000n);
    still.child.kill('SIGCONT');
    still.child.stdin?.end();
    await still.output.ended;
    t.ok(
      other.output.lines.some(({ began }) => began !== undefined),
      'the other node went on',
    );
    // It may begin the step that came next before it hears that the job is another's: what it does then is never acknowledged.
    const heard = still.output.lines.filter(({ at, began }) => began === undefined || at < wokeAt);
    const lines = [...heard, ...other.output.lines];
    const acknowledged = lines.flatMap((line) => line.acknowledged ?? []);
    t.equal(new Set(acknowledged).size, acknowledged.length, 'no step was acknowledged twice');
    await checkJobs(
      t,
      url,
      lines.sort((a, b) => a.at - b.at),
    );
  });
}
