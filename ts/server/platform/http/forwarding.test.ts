import t from 'tap';
import { type ForwardedFacts, IDENTITY_HEADER, nextHop, readForwardedFacts, writeForwardedFacts } from './forwarding.ts';
import { json } from './reply/reply.ts';
import { openTestBed, plainRoute } from './test-support/test-bed.ts';

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

/** The module as another process has it, whose key is another. */
async function anotherNode(): Promise<typeof import('./forwarding.ts')> {
  const path = './forwarding.ts?of-another-node';
  return (await import(path)) as typeof import('./forwarding.ts');
}

t.test('a note that one node wrote says nothing at another, on whichever listener it comes', async (t) => {
  const isOpen = { auth: 'open' } as const;
  const seen = plainRoute('GET', '/seen', ({ listener, remoteAddress }) => json(200, { listener, remoteAddress }), isOpen);
  const bed = await openTestBed(t, [seen]);
  const told: ForwardedFacts = { ...facts, listener: 'internal' };
  const other = await anotherNode();
  const foreign = other.writeForwardedFacts(told);
  t.strictSame(other.readForwardedFacts(foreign), told, 'the other node believes it');
  const ask = async (url: string, note: string): Promise<unknown> =>
    await (await fetch(`${url}/seen`, { headers: { [IDENTITY_HEADER]: note } })).json();
  for (const note of [foreign, writeForwardedFacts(told, Date.now() - 61_000)]) {
    t.strictSame(await ask(bed.url, note), { listener: 'internal', remoteAddress: '127.0.0.1' });
    t.strictSame(await ask(bed.publicUrl, note), { listener: 'public', remoteAddress: '127.0.0.1' });
  }
  t.strictSame(await ask(bed.publicUrl, writeForwardedFacts(told)), { listener: 'internal', remoteAddress: '192.0.2.7' });
});

t.test('a request is sent on twice at most', async (t) => {
  t.equal(nextHop(undefined), 1);
  t.equal(nextHop(facts), 2);
  t.throws(() => nextHop({ ...facts, hops: 2 }), { status: 508, code: 'forward_loop' });
});
