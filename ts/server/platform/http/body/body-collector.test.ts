import fc from 'fast-check';
import t from 'tap';
import { BodyBudget, BodyCollector, type BodyOutcome } from './body-collector.ts';

const bytes = (length: number): ArrayBuffer => new Uint8Array(length).fill(length).buffer;

t.test('a body in any pieces is whole, reported once, and releases its budget', async () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 8 }), (lengths) => {
      const budget = new BodyBudget(400);
      const outcomes: BodyOutcome[] = [];
      let read: Uint8Array | undefined;
      const collector = new BodyCollector(400, budget, (outcome) => {
        outcomes.push(outcome);
        if (outcome.kind === 'complete') read = outcome.body.join();
      });
      for (const [i, length] of lengths.entries()) collector.add(bytes(length), i === lengths.length - 1);
      // What comes behind the end, and a client that leaves then, change nothing.
      collector.add(bytes(9), true);
      collector.drop();
      const whole = Buffer.concat(lengths.map((length) => Buffer.from(bytes(length))));
      return outcomes.length === 1 && read !== undefined && whole.equals(read) && budget.reserve(400);
    }),
  );
});

t.test('a body that is too large, or over the budget, is reported once and holds nothing', async (t) => {
  for (const [limit, budgetBytes, kind] of [
    [10, 100, 'too_large'],
    [100, 10, 'busy'],
  ] as const) {
    const budget = new BodyBudget(budgetBytes);
    const outcomes: BodyOutcome[] = [];
    const collector = new BodyCollector(limit, budget, (outcome) => outcomes.push(outcome));
    for (let i = 0; i < 4; i++) collector.add(bytes(5), i === 3);
    t.strictSame(outcomes, [{ kind, limitBytes: limit, mustClose: false }]);
    t.ok(budget.reserve(budgetBytes));
  }
});

t.test('a dropped collector reports nothing and holds nothing', async (t) => {
  const budget = new BodyBudget(100);
  const outcomes: BodyOutcome[] = [];
  const collector = new BodyCollector(100, budget, (outcome) => outcomes.push(outcome));
  collector.add(bytes(60), false);
  collector.drop();
  collector.add(bytes(60), true);
  t.strictSame(outcomes, []);
  t.ok(budget.reserve(100));
});
