import t from 'tap';
import { TapProgress } from './tap-progress.mjs';

const run = `TAP version 14
# Subtest: a.test.ts
    # Subtest: one
        ok 1 - should be equal
        1..1
    ok 1 - one # time=3ms
    ok 2 - two # SKIP no disk for it
    1..2
ok 1 - a.test.ts # time=1240.3ms
# Subtest: b.test.ts
    not ok 1 - should be equal
    1..1
not ok 2 - b.test.ts # time=12ms
not ok 3 - timeout!
1..3
# { total: 3, pass: 1, fail: 1, skip: 1 }
`;

t.test('a line for each file that ended and each test that was skipped, however the output is cut', async (t) => {
  for (const size of [1, 7, run.length]) {
    const lines: string[] = [];
    const progress = new TapProgress((line) => lines.push(line));
    for (let at = 0; at < run.length; at += size) progress.write(run.slice(at, at + size));
    t.same(lines, [
      'skipped  two: no disk for it',
      'ok       a.test.ts (1.2 s)',
      'FAILED   b.test.ts (0.0 s)',
      'FAILED   timeout!',
    ]);
  }
});
