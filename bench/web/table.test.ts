import t from 'tap';
import { holds, tableLines } from './table.ts';

t.test('figures stand beside their goals', async (t) => {
  t.strictSame(
    tableLines([
      { name: 'weight', unit: 'KB', ours: 81.25, rival: undefined, atMost: 120 },
      { name: 'interactive', unit: 'ms', ours: 1250, rival: 2000, atMost: 1000 },
      { name: 'requests', unit: '', ours: 9, rival: 3 },
    ]),
    [
      'figure              svc  llama-server     goal',
      'weight (KB)        81.3             -   <= 120    held',
      'interactive (ms)  1,250         2,000  <= 1000  missed',
      'requests ()           9             3',
    ],
  );
});

t.test('a figure that was not measured holds no goal and misses none', async (t) => {
  t.equal(holds({ ours: undefined, atMost: 1 }), undefined);
  t.equal(holds({ ours: 1 }), undefined);
  t.equal(holds({ ours: 1, atMost: 1 }), true);
});
