import t from 'tap';
import { runSoakServer } from './server.ts';
import { soak } from './soak/soak.ts';
import { iterations } from './test-support/iterations.ts';

const seconds = iterations(6, 30);

t.test(`${seconds} seconds of random clients leave the server up and every answer documented`, async (t) => {
  const server = await runSoakServer(t.testdir());
  t.teardown(() => server.stop());
  const report = await soak(server, { seconds, seed: 1, nClients: 6 });
  t.comment(`${report.nVisits} visits: ${JSON.stringify(report.counts)}`);
  t.strictSame(report.faults, []);
  t.ok(report.nVisits > 5 * seconds);
  t.equal((await fetch(`${server.url}/livez`)).status, 200);
});
