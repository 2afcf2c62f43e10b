import fc from 'fast-check';
import t from 'tap';
import { firstSequenceOf } from '../stored-responses/run-numbers.ts';
import { type EventBatch, framesAfter, joinBatches } from './event-batch.ts';

function batch(first: number, texts: readonly string[]): EventBatch {
  const frames = texts.map((text, index) => `event: e\ndata: ${JSON.stringify({ sequence_number: first + index, text })}\n\n`);
  return { first, last: first + texts.length - 1, frames: frames.join('') };
}

t.test('a batch is cut behind any event, whatever its texts hold', async () => {
  fc.assert(
    fc.property(
      fc.nat(1000),
      fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }),
      fc.integer({ min: -2, max: 20 }),
      (first, texts, offset) => {
        const after = first + offset;
        const n = Math.max(0, after - first + 1);
        const rest = framesAfter(batch(first, texts), after);
        return rest === batch(first + n, texts.slice(n)).frames;
      },
    ),
  );
});

t.test('batches that follow one another are one', async (t) => {
  t.strictSame(joinBatches([batch(2, ['a', 'b']), batch(4, ['c'])]), batch(2, ['a', 'b', 'c']));
  t.equal(joinBatches([]), undefined);
});

t.test('a run begins behind all that the one before can have written', async (t) => {
  t.strictSame([1, 2, 3].map(firstSequenceOf), [2, 100_000_000, 200_000_000]);
});
