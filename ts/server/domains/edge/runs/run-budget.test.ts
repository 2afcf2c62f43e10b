/** The limits of a run, one by one. */
import t from 'tap';
import { RunBudget, type RunLimits } from './run-budget.ts';

const WIDE: RunLimits = { rounds: 100, calls: 100, tokens: 1_000, seconds: 100, costMicros: 0 };
const USE = { nTokens: 10, costMicros: 5 };

function runOf(limits: Partial<RunLimits>) {
  const clock = { now: 0 };
  const budget = new RunBudget({ ...WIDE, ...limits }, () => clock.now);
  return { budget, clock };
}

t.test('a run ends at its rounds, its tokens, its time and what it costs', async (t) => {
  const rounds = runOf({ rounds: 2 }).budget;
  rounds.round(USE);
  t.equal(rounds.spent, undefined);
  rounds.round(USE);
  t.equal(rounds.spent, 'rounds');
  const tokens = runOf({ tokens: 10 }).budget;
  tokens.round(USE);
  t.equal(tokens.spent, 'tokens');
  const { budget, clock } = runOf({ seconds: 3 });
  clock.now = 2_999;
  t.equal(budget.spent, undefined);
  clock.now = 3_000;
  t.equal(budget.spent, 'seconds');
  const cost = runOf({ costMicros: 5 }).budget;
  cost.round(USE);
  t.equal(cost.spent, 'cost');
  const unbilled = runOf({ costMicros: 0 }).budget;
  unbilled.round({ nTokens: 1, costMicros: 1_000_000 });
  t.equal(unbilled.spent, undefined, '0 is no limit');
});

t.test('calls are refused one by one behind the last, also within a round', async (t) => {
  const { budget } = runOf({ calls: 2 });
  t.strictSame([budget.takeCall(), budget.takeCall(), budget.takeCall()], [true, true, false]);
  t.equal(budget.spent, 'calls');
});

t.test('the same call with the same result three times ends a run, and others between them do not matter', async (t) => {
  const { budget } = runOf({});
  for (const key of ['a', 'b', 'a', 'c']) budget.called(key);
  t.equal(budget.spent, undefined);
  budget.called('a');
  t.equal(budget.spent, 'repetition');
});
