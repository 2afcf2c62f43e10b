import t from 'tap';
import type { EventBatch } from '../event-streams/event-batch.ts';
import { LiveEvents } from './live-events.ts';

/** Events of which each is one frame; `save` answers what the test wants. */
function begin(save: (batch: EventBatch) => Promise<boolean>) {
  let next = 2;
  const errors: unknown[] = [];
  const events = new LiveEvents({
    firstSequence: next,
    nextSequence: () => next,
    save,
    onSaveError: (error) => errors.push(error),
    onChange: () => {},
  });
  const write = (text: string): boolean => {
    next += 1;
    return events.write(`data: ${text}\n\n`);
  };
  return { events, errors, write };
}

const numbersOf = (batches: EventBatch[] | undefined) => batches?.map(({ first }) => first);
const never = new AbortController().signal;

t.test('events are read behind any number, saved together, and the rest is returned at the end', async (t) => {
  const saved: EventBatch[] = [];
  const isSaved = Promise.withResolvers<void>();
  const { events, write } = begin(async (batch) => {
    saved.push(batch);
    isSaved.resolve();
    return true;
  });
  for (const text of ['a', 'b', 'c']) write(text);
  t.strictSame(numbersOf(events.after(0)), undefined, 'what creation wrote is not here');
  t.strictSame(numbersOf(events.after(1)), [2, 3, 4]);
  t.strictSame(numbersOf(events.after(3)), [4]);
  await isSaved.promise;
  await new Promise(setImmediate);
  write('d');
  t.strictSame(numbersOf(events.after(1)), [2, 3, 4, 5]);
  t.strictSame(numbersOf(events.after(4)), [5]);
  t.strictSame(numbersOf(events.after(5)), []);
  t.strictSame(saved, [{ first: 2, last: 4, frames: 'data: a\n\ndata: b\n\ndata: c\n\n' }]);
  t.strictSame(await events.stop(), { first: 5, last: 5, frames: 'data: d\n\n' });
});

t.test('the engine pauses until a database that fails works again, and nothing is lost', async (t) => {
  let isWorking = false;
  const saved: EventBatch[] = [];
  const { events, errors, write } = begin(async (batch) => {
    if (!isWorking) throw new Error('no database');
    saved.push(batch);
    return true;
  });
  const drained = Promise.withResolvers<void>();
  events.onDrain(drained.resolve);
  t.equal(write('x'.repeat(500_000)), true);
  t.equal(write('y'.repeat(700_000)), false);
  while (errors.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  isWorking = true;
  await drained.promise;
  t.match(saved, [{ first: 2, last: 3 }]);
  t.equal(events.after(1), undefined, 'the oldest are only in the database');
  t.strictSame(numbersOf(events.after(2)), [3]);
  await events.stop();
});

t.test('a response that is not this run’s any more ends the run; so does the signal, and the last event', async (t) => {
  const lost = begin(async () => false);
  lost.write('a');
  t.equal(await lost.events.ended(never), false);
  const whole = begin(async () => true);
  whole.events.end();
  t.equal(await whole.events.ended(never), true);
  const aborted = begin(async () => true);
  await t.rejects(aborted.events.ended(AbortSignal.abort(new Error('the node stops'))), /the node stops/);
});
