/** A primary and its standbys. */
import { EventEmitter, once } from 'node:events';
import t from 'tap';
import { silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import { Peer } from '../link/peers.ts';
import { Primary } from './primary.ts';
import type { Replication } from './replication.ts';

const own = { cert: '', key: '', fingerprint: '', expiresAt: 0 };

function standby(id: string): Peer {
  const facts = { id, name: id, address: `${id}:1`, isReady: true, isMember: true, modules: ['data'], certificates: [] };
  return Object.assign(new Peer(facts, own, 1), { isAnswering: true });
}

t.test('a standby that hangs keeps no other one from its snapshots', async (t) => {
  const events = new EventEmitter();
  const pushed = once(events, 'good');
  const push: Replication['push'] = async ({ shown }, signal) => {
    events.emit(shown);
    await once(signal, 'abort');
    throw signal.reason;
  };
  const primary = new Primary({
    log: silentLog,
    replication: { push } as Replication,
    syncMs: 1_000,
    commit: async () => 1,
    roles: () => [],
    standbys: () => [standby('hung'), standby('good')],
  });
  primary.start();
  await t.resolves(pushed);
  await primary.stop();
});
