/** Peers choose the node that is asked, while some answer and some do not. */
import { getEventListeners } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import type { ModelCard } from '../../inference/index.ts';
import { LinkListener } from './link-listener.ts';
import { openNodeCertificate } from './node-certificate.ts';
import { judging, Peer, Peers, usable } from './peers.ts';
import { blocksOf } from './prefixes.ts';
import { RemoteBackend } from './remote-backend.ts';

const own = { cert: '', key: '', fingerprint: '', expiresAt: 0 };

function peerOf(id: string, state: Partial<Pick<Peer, 'isAnswering' | 'isSilent' | 'hasTold'>>, isReady = true): Peer {
  const facts = { id, name: id, address: `${id}:1`, isReady, isMember: false, modules: [], certificates: [] };
  const peer = new Peer(facts, own, 1);
  peer.cards = new Map([['m', { id: 'm' } as ModelCard]]);
  return Object.assign(peer, { hasTold: true, ...state });
}

const answering = { isAnswering: true, isSilent: false };
const doubtful = { isAnswering: false, isSilent: false };
const silent = { isAnswering: false, isSilent: true };

t.test('a node that failed one request is asked again where no other answers, and one that is silent is not', async (t) => {
  const [good, odd, gone] = [peerOf('good', answering), peerOf('odd', doubtful), peerOf('gone', silent)];
  t.strictSame(usable([odd, good, gone]), [good]);
  t.strictSame(usable([gone, odd]), [odd]);
  t.strictSame(usable([gone]), []);
  const peers = new Peers();
  peers.replace([odd, good, gone]);
  t.equal(peers.choose('m', '', new Set()), good);
  t.equal(peers.choose('m', '', new Set([good])), odd);
  t.equal(peers.choose('m', '', new Set([good, odd])), undefined);
});

t.test('a request counts where it goes from its dispatch, before that node says a word', async (t) => {
  const [busy, idle] = [peerOf('busy', answering), peerOf('idle', answering)];
  const prompt = (tenant: string) => blocksOf(tenant, { kind: 'text', text: 'words '.repeat(1_000) });
  const longer = () => busy.expectedMs(prompt('other'), 0, 500) - idle.expectedMs(prompt('other'), 0, 500);
  t.equal(longer(), 0);
  const read = busy.dispatch(prompt('one'));
  const whole = longer();
  t.ok(whole > 0);
  const peers = new Peers();
  peers.replace([busy, idle]);
  t.equal(peers.choose('m', '', new Set(), prompt('other')), idle);
  // Whoever was chosen counts for the next choice, which is not looked at here.
  idle.recent = 0;
  read();
  t.ok(longer() < whole && longer() > 0, 'its prompt is read, and it answers');
  busy.nDispatched -= 1;
  t.equal(longer(), 0);
});

t.test('a model stays listed while its nodes are silent, until they are gone', async (t) => {
  const peers = new Peers();
  peers.replace([peerOf('good', answering), peerOf('quiet', silent)]);
  t.match(peers.cards(), [{ id: 'm', nodes: ['good'] }]);
  peers.replace([peerOf('quiet', silent)]);
  t.strictSame(peers.cards(), [{ id: 'm', nodes: [] }]);
  peers.replace([peerOf('quiet', silent, false)]);
  t.strictSame(peers.cards(), []);
});

t.test('a model that is missing is not said to be nowhere before each node has said what it has', async (t) => {
  const peers = new Peers();
  const backend = new RemoteBackend(peers, { onEnd: () => undefined, onSaved: () => undefined });
  t.match(backend.unavailableReason('x'), { code: 'node_lost' }, 'before any list was read');
  peers.replace([peerOf('good', answering), peerOf('new', { ...doubtful, hasTold: false })]);
  t.match(backend.unavailableReason('x'), { code: 'node_lost' });
  t.equal(backend.unavailableReason(), undefined, 'what is known is answered meanwhile');
  peers.replace([peerOf('good', answering), peerOf('quiet', silent)]);
  t.equal(backend.unavailableReason('x'), undefined);
  peers.forget();
  t.match(backend.unavailableReason('x'), { code: 'node_lost' });
});

t.test('a node is known by each of its certificates while one is renewed', async (t) => {
  const made = [1, 2, 3].map((n) => openNodeCertificate(join(newFolder(t), String(n)), 'b2'));
  const all = await Promise.all(made);
  const known = all.map(({ fingerprint, cert: pem }) => ({ node: 'b2', fingerprint, pem }));
  for (const [n, shown] of all.entries()) {
    const listener = new LinkListener({
      log: silentLog,
      takesTokens: () => false,
      isCurrent: () => true,
      answer: async ({ from, response }) => void response.end(from),
    });
    const port = await listener.open({ host: '127.0.0.1', port: 0 }, shown);
    listener.trust(known, shown);
    const facts = { id: 'b2', name: '', address: `127.0.0.1:${port}`, isReady: true, isMember: false, modules: [] };
    const peer = new Peer({ ...facts, certificates: all.map(({ cert }) => cert) }, shown, 5_000);
    const { signal } = new AbortController();
    const answer = await peer.ask('/', signal);
    t.equal((await answer.bytes(100)).toString(), 'b2', `certificate ${n}`);
    await t.rejects(peer.refresh(signal), SyntaxError);
    await (await peer.forward('/', { signal })).bytes(100);
    t.strictSame(getEventListeners(signal, 'abort'), [], 'nothing stays at a signal that may live as long as the node');
    await peer.close();
    await listener.close(0);
  }
});

t.test('a node that is met again with another certificate is what it was', async (t) => {
  const before = Object.assign(peerOf('one', answering), { lacksDatabase: true, version: 2 });
  const peers = new Peers();
  peers.replace([peerOf('one', { hasTold: false }).succeed(before)]);
  t.match(peers.all, [{ isAnswering: true, lacksDatabase: true, hasTold: true, version: 2 }]);
  t.match(peers.cards(), [{ id: 'm', nodes: ['one'] }]);
  t.notOk(peers.areUnknown);
  t.strictSame(judging(peers.all), peers.all, 'where none reaches its database, any is asked');
});
