import t from 'tap';
import { Budgets } from './budgets.ts';
import { planUnits } from './units.ts';

const cost = (wallSeconds: number) => ({ wallSeconds, cpuSeconds: wallSeconds });
const pure = Array.from({ length: 60 }, (_, i) => `pure/${String(i).padStart(2, '0')}`);
const budgets = new Budgets([...pure.map((file) => [file, cost(0.1)] as const), ['short', cost(1)], ['long', cost(30)]]);

t.test('each file is in one unit, the longest first, and what nobody measured before it', async (t) => {
  const units = planUnits(['short', ...pure, 'new', 'long'], budgets, (file) => (file.startsWith('pure') ? 'pure' : undefined));
  t.strictSame(units.flat().sort(), ['short', ...pure, 'new', 'long'].sort());
  t.strictSame(units.slice(0, 2), [['new'], ['long']]);
  t.strictSame(units.map((unit) => unit.length).sort(), [1, 1, 1, 20, 20, 20]);
  t.strictSame(units.at(-1), ['short'], 'what runs together counts together');
});

t.test('only files of one place are together', async (t) => {
  const units = planUnits(pure, budgets, (file) => (file < 'pure/30' ? 'a' : 'b'));
  for (const unit of units) t.equal(new Set(unit.map((file) => file < 'pure/30')).size, 1);
});
