import t from 'tap';
import { Repeater } from './repeater.ts';

const never = 1_000_000;

t.test('it runs at its start and when it is woken, never twice at a time', async (t) => {
  let running = 0;
  let most = 0;
  let runs = 0;
  let ranAgain = Promise.withResolvers<void>();
  const repeater = new Repeater({
    intervalMs: never,
    run: async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      runs += 1;
      ranAgain.resolve();
    },
    onError: () => t.fail(),
  });
  repeater.start();
  repeater.start();
  await ranAgain.promise;
  ranAgain = Promise.withResolvers<void>();
  repeater.wake();
  repeater.wake();
  await ranAgain.promise;
  await repeater.stop();
  t.ok(runs >= 2);
  t.equal(most, 1);
});

t.test('what it throws is reported, and it goes on; stopping waits for the run that is under way', async (t) => {
  const errors: unknown[] = [];
  const begun = Promise.withResolvers<void>();
  let isOver = false;
  const repeater = new Repeater({
    intervalMs: 1,
    run: async () => {
      if (errors.length < 2) throw new Error('again');
      begun.resolve();
      await new Promise((resolve) => setTimeout(resolve, 10));
      isOver = true;
    },
    onError: (error) => errors.push(error),
  });
  repeater.start();
  await begun.promise;
  await repeater.stop();
  t.equal(errors.length, 2);
  t.ok(isOver);
});
