import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Budgets } from './budgets.ts';

const cost = (wallSeconds: number, cpuSeconds = wallSeconds) => ({ wallSeconds, cpuSeconds });

t.test('the dearest is first, and what nobody measured before it', async (t) => {
  const budgets = new Budgets([
    ['cheap', cost(30, 1)],
    ['dear', cost(2)],
  ]);
  t.strictSame(budgets.dearestFirst(['cheap', 'new', 'dear']), ['new', 'dear', 'cheap']);
});

t.test('what a run measured replaces what was known, and what is gone is left out', async (t) => {
  const root = t.testdir({ test: {} });
  const known = new Budgets([
    ['b', cost(1)],
    ['gone', cost(2)],
    ['a', cost(3)],
  ]);
  known.with(new Map([['b', cost(4.04, 0.26)]]), ['a', 'b', 'unmeasured']).write(root);
  t.equal(readFileSync(join(root, 'test/budgets.json'), 'utf8'), '{\n  "a": [3.0, 3.0],\n  "b": [4.0, 0.3]\n}\n');
  t.strictSame(Budgets.read(root).costOf('b'), cost(4, 0.3));
  t.equal(Budgets.read(root).costOf('gone'), undefined);
  t.equal(Budgets.read(t.testdir()).costOf('a'), undefined, 'no budgets yet');
});
