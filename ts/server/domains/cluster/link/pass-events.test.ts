/** An event stream of another node is passed on event by event, and ends between two of them. */
import { Readable } from 'node:stream';
import fc from 'fast-check';
import t from 'tap';
import type { EventStream } from '../../../platform/http/reply/reply.ts';
import { passEvents } from './pass-events.ts';

class Client implements EventStream {
  readonly writes: string[] = [];
  isEnded = false;
  isSlow = false;
  drain = (): void => undefined;
  leave = (): void => undefined;
  write(frames: Uint8Array | string): boolean {
    this.writes.push(Buffer.from(frames).toString());
    return !this.isSlow;
  }
  onDrain(callback: () => void): void {
    this.drain = callback;
  }
  onClose(callback: () => void): void {
    this.leave = callback;
  }
  end(): void {
    this.isEnded = true;
  }
  get text(): string {
    return this.writes.join('');
  }
}

const LOST = 'event: error\ndata: lost\n\n';
const piecesOf = (text: string, cuts: readonly number[]): Buffer[] => {
  const at = [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b), text.length];
  return at.slice(1).map((end, i) => Buffer.from(text.slice(at[i], end)));
};

t.test('whatever its pieces are, all of it arrives, and each write ends with an event', async () => {
  const event = fc.constantFrom(
    ':\n\n',
    'data: 1\n\n',
    'data: {"a":"\\n"}\n\n',
    'id: 7\r\ndata: x\r\n\r\n',
    `data: ${'y'.repeat(99)}\n\n`,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(event), fc.array(fc.nat()), async (events, cuts) => {
      const client = new Client();
      await passEvents(Readable.from(piecesOf(events.join(''), cuts)), client, () => LOST);
      return client.text === events.join('') && client.isEnded && client.writes.every((text) => /\n\r?\n$/.test(text));
    }),
  );
});

t.test('a stream that is cut in an event ends before it, with an error; one that ends is passed on as it is', async (t) => {
  const cut = new Client();
  const source = async function* () {
    yield Buffer.from('data: 1\n\ndata: 2\n\nda');
    yield Buffer.from('ta: 3\n');
    throw new Error('the connection is gone');
  };
  await passEvents(Readable.from(source()), cut, () => LOST);
  t.equal(cut.text, `data: 1\n\ndata: 2\n\n${LOST}`);
  t.ok(cut.isEnded);
  const open = new Client();
  await passEvents(Readable.from([Buffer.from('data: 1\n\ndata: 2')]), open, () => LOST);
  t.equal(open.text, 'data: 1\n\ndata: 2');
});

t.test('a slow client holds the other node back, and one that leaves ends its answer', async (t) => {
  const client = new Client();
  client.isSlow = true;
  let nRead = 0;
  let isClosed = false;
  const source = async function* () {
    try {
      for (;;) {
        nRead += 1;
        yield Buffer.from('data: 1\n\n');
      }
    } finally {
      isClosed = true;
    }
  };
  const over = passEvents(Readable.from(source(), { highWaterMark: 1 }), client, () => LOST);
  while (client.writes.length === 0) await new Promise(setImmediate);
  for (let i = 0; i < 20; i++) await new Promise(setImmediate);
  t.ok(nRead < 5, `${nRead} events were asked for`);
  client.drain();
  while (client.writes.length === 1) await new Promise(setImmediate);
  client.leave();
  await over;
  while (!isClosed) await new Promise(setImmediate);
  t.notMatch(client.text, /lost/, 'nobody is there to be told');
});
