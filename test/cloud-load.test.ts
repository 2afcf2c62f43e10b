/** Short samples of `npm run soak:cloud`. */
import t from 'tap';
import { failover } from './cloud-load/failover.ts';
import { faults } from './cloud-load/faults.ts';
import { startServer } from './server.ts';
import { iterations } from './test-support/iterations.ts';

t.setTimeout(300_000);

const env = { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1', SVC_LOG_LEVEL: 'error' };

t.test('one of two backends fails in turn: no answer is lost that had not begun, and none ends falsely', async (t) => {
  const { url } = await startServer(t, { models: {}, env });
  const report = await failover({ url, seconds: iterations(12, 60), perSecond: 20, faultMs: 1500 });
  t.comment(JSON.stringify(report));
  t.strictSame(report.failures, []);
  t.equal(report.nFailedEarly, 0);
  t.equal(report.nFalseEnds, 0);
  t.ok(report.nWhole > report.nAsked * 0.9, 'most are whole');
});

t.test('all faults at random: no false end, and nothing is left over', async (t) => {
  const server = await startServer(t, { models: {}, env });
  const report = await faults(server, { seconds: iterations(8, 60), perSecond: 20, seed: 1 });
  t.comment(JSON.stringify(report));
  t.equal(report.nFalseEnds, 0);
  t.match(report, { nRunning: 0, nWaiting: 0, nSockets: 0, nHeldTokens: 0 });
  t.ok((report.ends['clean'] ?? 0) > report.nAsked / 3);
});
