import t from 'tap';
import { type ForwardedFacts, nextHop, readForwardedFacts, writeForwardedFacts } from './forwarding.ts';

const facts: ForwardedFacts = {
  address: '192.0.2.7',
  listener: 'public',
  state: 'enforce',
  host: 'svc.example',
  isEncrypted: true,
  requestId: 'r1',
  hops: 1,
};

t.test('a note about a client is believed as it was written, for a minute', async (t) => {
  const note = writeForwardedFacts(facts, 1_000);
  t.strictSame(readForwardedFacts(note, 61_000), facts);
  t.equal(readForwardedFacts(note, 61_001), undefined);
  const other = Buffer.from(JSON.stringify({ ...facts, listener: 'internal', until: 1e15 })).toString('base64url');
  for (const wrong of ['', '.', other, `${other}.${note.split('.')[1]}`, `${note}x`, note.slice(0, -1)])
    t.equal(readForwardedFacts(wrong, 1_000), undefined, wrong);
});

t.test('a request is sent on twice at most', async (t) => {
  t.equal(nextHop(undefined), 1);
  t.equal(nextHop(facts), 2);
  t.throws(() => nextHop({ ...facts, hops: 2 }), { status: 508, code: 'forward_loop' });
});
