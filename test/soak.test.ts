import t from 'tap';
import { runSoakServer } from './server.ts';
import { soak } from './soak/soak.ts';

t.test('20 seconds of random clients leave the server up and every answer documented', async (t) => {
  const server = await runSoakServer(t.testdir());
  t.teardown(() => server.stop());
  const report = await soak(server, { seconds: 20, seed: 1, nClients: 6 });
  t.comment(`${report.nVisits} visits: ${JSON.stringify(report.counts)}`);
  t.strictSame(report.faults, []);
  t.ok(report.nVisits > 100);
  t.equal((await fetch(`${server.url}/livez`)).status, 200);
});
