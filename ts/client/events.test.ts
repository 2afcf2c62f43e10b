import fc from 'fast-check';
import t from 'tap';
import { iterations } from '../../test/test-support/iterations.ts';
import { readEvents } from './events.ts';

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size = 7): Promise<string[]> {
  const events: string[] = [];
  for await (const batch of readEvents(inPieces(Buffer.from(text), size))) events.push(...batch.map(({ data }) => data));
  return events;
}

t.test('events, comments, several data lines and every line ending', async (t) => {
  t.strictSame(await read('data: a\n\n: ping\n\nevent: x\ndata:b\ndata:  c\n\ndata: d\r\n\r\ndata: e\r\r'), [
    'a',
    'b\n c',
    'd',
    'e',
  ]);
});

t.test('an event that never ended is not delivered', async (t) => {
  t.strictSame(await read('data: a\n\ndata: half'), ['a']);
});

t.test('however the bytes are cut, the events are the same', async (t) => {
  const data = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !/[\r\n]/.test(text));
  const ending = fc.constantFrom('\n', '\r\n', '\r');
  await fc.assert(
    fc.asyncProperty(fc.array(data, { maxLength: 6 }), ending, fc.integer({ min: 1, max: 9 }), async (events, end, size) => {
      const stream = `${events.map((event) => `data: ${event}${end}${end}`).join('')}: end${end}`;
      t.strictSame(await read(stream, size), events);
    }),
    { numRuns: iterations(100, 2_000) },
  );
});
