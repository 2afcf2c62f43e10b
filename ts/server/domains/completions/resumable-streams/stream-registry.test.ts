/** Streams that outlive their clients: what readers get, how long streams stay, and what they may take. */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { HttpError } from '../../../platform/http/errors.ts';
import type { EventStream } from '../../../platform/http/route.ts';
import { silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import type { ResumableStream } from './resumable-stream.ts';
import type { StreamLimits } from './stream-limits.ts';
import { StreamRegistry } from './stream-registry.ts';

const KIB = 1024;
const roomy: StreamLimits = {
  detachedMs: 60_000,
  keepMs: 60_000,
  streamBytes: 1024 * KIB,
  tenantBytes: 4096 * KIB,
  totalBytes: 8192 * KIB,
};
const ann = { tenant: 'red', subject: 'user:ann' };
const DONE = 'data: [DONE]\n\n';

/** A client that takes some events at a time, and leaves when it has enough. */
class Reader implements EventStream {
  text = '';
  isEnded = false;
  readonly #nMost: number;
  #leave = () => {};
  #drain = () => {};
  isBlocked = false;

  /** Goes away in the middle of what it was sent, behind so many events. */
  constructor(nMost = Number.POSITIVE_INFINITY) {
    this.#nMost = nMost;
  }

  get nEvents(): number {
    return this.text.split('\n\n').length - 1;
  }

  write(frames: Uint8Array | string): boolean {
    if (this.isEnded) return false;
    const events = String(frames).split(/(?<=\n\n)/);
    const nTaken = Math.min(events.length, this.#nMost - this.nEvents);
    this.text += events.slice(0, nTaken).join('');
    if (this.nEvents >= this.#nMost) this.leave();
    return !this.isBlocked;
  }

  leave(): void {
    this.isEnded = true;
    this.#leave();
  }

  drain(): void {
    this.isBlocked = false;
    this.#drain();
  }

  onDrain(callback: () => void): void {
    this.#drain = callback;
  }

  onClose(callback: () => void): void {
    this.#leave = callback;
  }

  end(): void {
    this.isEnded = true;
  }
}

interface Scripted {
  stream: ResumableStream;
  stored: (string | undefined)[];
}

function openStream(registry: StreamRegistry, id = 'a', owner = ann, recheck = async () => {}): Scripted {
  const stored: (string | undefined)[] = [];
  const about = { id, owner, conversationId: 'c', parentId: undefined, prefix: '', model: 'm' };
  const stream = registry.open(about, {
    errorFrame: ({ code }) => `data: {"error":"${code}"}\n\n`,
    recheck,
    whenStored: async () => {},
  });
  if (stream === undefined) throw new Error('there was no room');
  stream.signal.addEventListener('abort', () => stored.push(stream.cutBy));
  return { stream, stored };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const lastId = (text: string) => Number([...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? 0);

t.test('cut at random places, any number of times, two readers each have the uncut stream', async () => {
  const texts = fc.array(fc.string({ unit: 'binary', maxLength: 20 }), { minLength: 1, maxLength: 30 });
  const cuts = fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 12 });
  const pieces = fc.integer({ min: 1, max: 4 });
  await fc.assert(
    fc.asyncProperty(texts, cuts, cuts, pieces, async (texts, cutsOfOne, cutsOfOther, nAtOnce) => {
      const registry = new StreamRegistry(roomy, silentLog);
      const { stream } = openStream(registry);
      const uncut = new Reader();
      stream.follow(0)(uncut);
      const readAll = async (cuts: number[]): Promise<string> => {
        let text = '';
        for (const nMost of [...cuts, Number.POSITIVE_INFINITY]) {
          const reader = new Reader(nMost);
          if (nMost === 0) continue;
          stream.follow(lastId(text))(reader);
          while (!reader.isEnded) await turn();
          text += reader.text;
          if (stream.state !== 'running' && lastId(text) === stream.last) return text;
        }
        return text;
      };
      const readers = [readAll(cutsOfOne), readAll(cutsOfOther)];
      for (let i = 0; i < texts.length; i += nAtOnce) {
        const frames = texts.slice(i, i + nAtOnce).map((text) => `data: ${JSON.stringify({ text })}\n\n`);
        stream.write(Buffer.from(frames.join('')));
        if (i % 3 === 0) await turn();
      }
      stream.write(DONE);
      stream.end();
      const [one, other] = await Promise.all(readers);
      while (!uncut.isEnded) await turn();
      await registry.stop();
      const expected = [...texts.map((text) => `data: ${JSON.stringify({ text })}\n\n`), DONE];
      const whole = expected.map((event, index) => `id: ${index + 1}\n${event}`).join('');
      return one === whole && other === whole && uncut.text === whole;
    }),
    { numRuns: 150 },
  );
});

t.test('a stream is found by its owner alone, for a while after its end', async (t) => {
  const registry = new StreamRegistry({ ...roomy, keepMs: 0 }, silentLog);
  const { stream } = openStream(registry);
  t.equal(registry.get(ann, 'a'), stream);
  for (const owner of [
    { ...ann, subject: 'user:ben' },
    { ...ann, tenant: 'blue' },
  ]) {
    t.throws(() => registry.get(owner, 'a'), { code: 'stream_not_found' });
    t.strictSame(registry.list(owner), []);
    await t.rejects(registry.cancel(owner, 'a'), { code: 'stream_not_found' });
  }
  t.equal(stream.state, 'running');
  t.throws(() => openStream(registry), { code: 'stream_exists' });
  stream.write(DONE);
  stream.end();
  t.equal(stream.state, 'completed');
  await sleep(1_300);
  t.throws(() => registry.get(ann, 'a'), { code: 'stream_not_found' });
  t.equal(registry.sizeBytes, 0);
});

t.test('an answer that nobody reads ends after its time, one that is read goes on', async (t) => {
  const registry = new StreamRegistry({ ...roomy, detachedMs: 200 }, silentLog);
  const [left, read] = [openStream(registry, 'left'), openStream(registry, 'read')];
  const reader = new Reader();
  read.stream.follow(0)(reader);
  await sleep(1_300);
  t.strictSame(left.stored, ['client_closed']);
  t.equal(left.stream.state, 'failed');
  t.equal(read.stream.state, 'running');
  const late = new Reader();
  left.stream.follow(0)(late);
  await turn();
  t.match(late.text, /answer_abandoned/);
  t.ok(late.isEnded);
  await registry.stop();
  t.strictSame(read.stored, ['shutdown']);
});

t.test('a credential that ended ends what nobody reads; one that cannot be judged does not', async (t) => {
  let status = 503;
  const recheck = async () => {
    throw new HttpError(status, 'x', 'x');
  };
  const registry = new StreamRegistry(roomy, silentLog);
  const { stream, stored } = openStream(registry, 'a', ann, recheck);
  const reader = new Reader();
  stream.follow(0)(reader);
  await turn();
  reader.leave();
  await turn();
  t.equal(stream.state, 'running');
  status = 401;
  const other = new Reader();
  stream.follow(0)(other);
  await turn();
  other.leave();
  await sleep(50);
  t.strictSame(stored, ['client_closed']);
  await registry.stop();
});

t.test('cancelling ends the stream for all its readers', async (t) => {
  const registry = new StreamRegistry(roomy, silentLog);
  const { stream, stored } = openStream(registry);
  const readers = [new Reader(), new Reader()];
  for (const reader of readers) stream.follow(0)(reader);
  stream.write('data: 1\n\n');
  await registry.cancel(ann, 'a');
  t.notOk(stream.write('data: 2\n\n'), 'what the engine still says is not taken');
  await turn();
  for (const { text, isEnded } of readers) {
    t.equal(text, 'id: 1\ndata: 1\n\nid: 2\ndata: {"error":"answer_cancelled"}\n\n');
    t.ok(isEnded);
  }
  t.strictSame(stored, ['cancelled']);
  await registry.cancel(ann, 'a');
  t.equal(stream.last, 2, 'once');
  await registry.stop();
});

t.test('the work pauses when its slowest reader lags by the limit, and nobody loses an event', async (t) => {
  const registry = new StreamRegistry({ ...roomy, streamBytes: 64 * KIB }, silentLog);
  const { stream } = openStream(registry);
  const [fast, slow] = [new Reader(), new Reader()];
  slow.isBlocked = true;
  stream.follow(0)(fast);
  stream.follow(0)(slow);
  await turn();
  let nDrained = 0;
  stream.onDrain(() => {
    nDrained += 1;
  });
  const event = `data: ${'x'.repeat(8 * KIB)}\n\n`;
  let nWritten = 0;
  let isGoingOn = true;
  while (isGoingOn && nWritten < 100) {
    isGoingOn = stream.write(event);
    nWritten += 1;
    await turn();
  }
  t.ok(nWritten < 12, `paused after ${nWritten} events`);
  t.equal(fast.nEvents, nWritten);
  slow.drain();
  await turn();
  await turn();
  t.equal(nDrained, 1);
  t.equal(slow.text, fast.text);
  for (let i = 0; i < 20; i++) {
    t.ok(stream.write(event));
    await turn();
  }
  t.ok(stream.sizeBytes <= 80 * KIB);
  const late = new Reader();
  stream.follow(0)(late);
  await turn();
  t.match(late.text, /stream_events_gone/);
  await registry.stop();
});

t.test('all streams of a tenant, and all together, stay within their limits', async (t) => {
  const limits = { ...roomy, tenantBytes: 512 * KIB, totalBytes: 768 * KIB };
  const registry = new StreamRegistry(limits, silentLog);
  const event = `data: ${'x'.repeat(16 * KIB)}\n\n`;
  const fill = ({ stream }: Scripted, n: number) => {
    for (let i = 0; i < n; i++) stream.write(event);
  };
  const [ended, detached] = [openStream(registry, 'ended'), openStream(registry, 'detached')];
  fill(ended, 10);
  ended.stream.write(DONE);
  ended.stream.end();
  fill(detached, 10);
  t.equal(registry.list(ann).length, 2);
  const grown = openStream(registry, 'grown');
  const reader = new Reader();
  grown.stream.follow(0)(reader);
  await turn();
  for (let i = 0; i < 40; i++) {
    fill(grown, 1);
    await turn();
    t.ok(registry.sizeBytes <= limits.tenantBytes);
  }
  t.throws(() => registry.get(ann, 'ended'), { code: 'stream_not_found' }, 'what has ended goes first');
  t.equal(reader.nEvents, 40, 'who reads has lost nothing');
  const blue = { tenant: 'blue', subject: 'user:ann' };
  fill(openStream(registry, 'blue', blue), 25);
  t.ok(registry.sizeBytes <= limits.totalBytes);
  t.equal(registry.get(blue, 'blue').state, 'running', 'the tenant with most gives way');
  await registry.stop();
});

t.test('without memory, or switched off, a stream is not resumable', async (t) => {
  const off = new StreamRegistry({ ...roomy, detachedMs: 0 }, silentLog);
  t.throws(() => openStream(off), /no room/);
  const full = new StreamRegistry({ ...roomy, tenantBytes: 64 * KIB }, silentLog);
  openStream(full, 'a');
  t.throws(() => openStream(full, 'b'), /no room/);
  t.ok(openStream(full, 'b', { tenant: 'blue', subject: 'user:ben' }));
  await full.stop();
  t.throws(() => openStream(full, 'c'), /no room/, 'nor on a node that stops');
});
