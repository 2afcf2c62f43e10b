/** Nodes whose lists are wrong send a request on to each other, and stop. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { NO_ACCOUNTS } from '../../../platform/http/authenticator.ts';
import { json } from '../../../platform/http/reply/reply.ts';
import { plainRoute } from '../../../platform/http/test-support/test-bed.ts';
import type { ModuleName } from '../../../platform/module/module-names.ts';
import { openModules, standIn } from '../../../platform/module/test-support/open-modules.ts';
import { scriptedNode } from '../../../platform/module/test-support/scripted-context.ts';
import { PostgresCluster } from '../../../platform/storage/test-support/postgres-cluster.ts';
import { inference } from '../../inference/index.ts';
import { cluster } from '../index.ts';

/** Its heartbeats say which modules it runs; `isRunning`: it does run the module data. */
async function openNode(t: Test, id: string, databaseUrl: string, said: readonly ModuleName[], isRunning = false) {
  const dataDir = join(newFolder(t), 'data');
  const service = { models: async () => [], addBackend: () => () => undefined };
  const handle = () => json(200, { by: id });
  const bed = await openModules(t, {
    modules: [standIn(inference, { service: service as never, split: { models: [], programs: '', port: 0 } }), cluster],
    databaseUrl,
    dataDir,
    services: { node: { ...scriptedNode, id, dataDir, modules: () => said } },
    settings: { 'cluster.listen': '127.0.0.1:0' },
    routes: [plainRoute('GET', '/api/v1/data/x', handle, { answeredBy: { module: 'data', isRunning } })],
    http: (host) => {
      const forwarding = host.find(cluster)?.forwarding;
      return forwarding === undefined ? {} : { forwarding };
    },
  });
  bed.module(cluster).api.connect({
    authenticator: NO_ACCOUNTS,
    address: () => ({ host: '127.0.0.1', port: bed.server.port }),
    recheck: () => undefined,
  });
  return bed;
}

type Bed = Awaited<ReturnType<typeof openNode>>;

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(20);
}

t.test('a request that is sent on', { skip: PostgresCluster.missing() ?? false, timeout: 60_000 }, async (t) => {
  const server = await PostgresCluster.start();
  t.teardown(() => server.remove());
  const ask = (bed: Bed) => bed.send('GET', '/api/v1/data/x');
  const nSent = ({ metrics }: Bed) => Number(/requests_sent_on_total\{outcome="ok"\} (\d+)/.exec(metrics.expose())?.[1] ?? 0);

  await t.test('by each of two nodes to the other ends', async (t) => {
    const url = await server.newDatabase();
    const [one, two] = [await openNode(t, 'a1', url, ['data']), await openNode(t, 'b2', url, ['data'])];
    for (const bed of [one, two]) await until(async () => (await ask(bed)).status === 508);
    const before = [nSent(one), nSent(two)];
    const answer = await ask(one);
    t.match(answer, { status: 508, body: { error: 'forward_loop' } });
    t.equal(answer.headers.get('retry-after'), '1');
    t.strictSame(
      [nSent(one), nSent(two)],
      before.map((n) => n + 1),
      'each has sent it on once',
    );
  });

  await t.test('to a node that no longer runs the module is answered by the next one', async (t) => {
    const url = await server.newDatabase();
    const one = await openNode(t, 'a1', url, []);
    const two = await openNode(t, 'b2', url, ['data']);
    const three = await openNode(t, 'c3', url, ['data'], true);
    for (const bed of [one, two]) await until(async () => (await ask(bed)).body?.by === 'c3');
    const before = nSent(two);
    await until(async () => (await ask(one)).body?.by === 'c3' && nSent(two) > before);
    t.equal(nSent(three), 0);
  });
});
