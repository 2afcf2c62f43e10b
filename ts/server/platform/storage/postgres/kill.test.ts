import t from 'tap';
import { listLostNotes } from '../test-support/acknowledged-notes.ts';
import { killRounds, killSteadyWriters, startSteadyWriter } from '../test-support/kill-rounds.ts';
import { PostgresCluster } from '../test-support/postgres-cluster.ts';

t.setTimeout(600_000);

const missing = PostgresCluster.missing();
if (missing !== undefined) t.plan(0, missing);
else await testKills(await PostgresCluster.startOwn());

async function testKills(cluster: PostgresCluster): Promise<void> {
  t.teardown(() => cluster.remove());

  t.test('kill -9 of the client at any moment loses no acknowledged write', async (t) => {
    const url = await cluster.newDatabase();
    const lines = await killSteadyWriters(url, killRounds());
    t.ok(lines.length > killRounds());
    t.strictSame(await listLostNotes(url, lines), []);
  });

  t.test('a crash of PostgreSQL loses no acknowledged write, and the client goes on when it is back', async (t) => {
    const url = await cluster.newDatabase();
    const { writer, output } = startSteadyWriter(url, 0);
    t.teardown(() => writer.kill('SIGKILL'));
    for (let crash = 0; crash < Math.ceil(killRounds() / 10); crash += 1) {
      const start = output.lines.length;
      await output.find(({ acknowledged }) => acknowledged !== undefined, start);
      await cluster.stopServer('immediate');
      t.match(await output.find(({ refused }) => refused !== undefined, start), { refused: 'storage_unavailable' });
      t.match(await output.find(({ notReady }) => typeof notReady === 'string', start), { notReady: /PostgreSQL does not work/ });
      await cluster.startServer();
      await output.find(({ notReady }) => notReady === null, start);
    }
    await output.find(({ acknowledged }) => acknowledged !== undefined, output.lines.length);
    writer.stdin?.end();
    await output.ended;
    t.strictSame(await listLostNotes(url, output.lines), []);
  });
}
