import t from 'tap';
import { readFailedFiles, readTapFailures } from './tap-failures.mjs';

const run = `TAP version 14
# Subtest: a.test.ts
    ok 1 - fine
      ---
      time: 1
      ...
    not ok 2 - should be equal
      ---
      diff: |
        -1
        +2
      ...
    not ok 3 - known # TODO later
    1..3
not ok 1 - a.test.ts # time=12ms
1..1
# { total: 3, pass: 1, fail: 1, todo: 1 }`;

t.test('failures keep their diagnosis; what passed or is known does not show', async (t) => {
  t.equal(
    readTapFailures(run),
    `    not ok 2 - should be equal
      ---
      diff: |
        -1
        +2
      ...
not ok 1 - a.test.ts # time=12ms`,
  );
});

t.test('a run without failures shows nothing', async (t) => {
  t.equal(readTapFailures('ok 1 - a\n# { total: 1, pass: 1 }'), '');
});

t.test('the files that failed are told, once each, and none of a run that broke off', async (t) => {
  const timedOut = run.replace(
    '1..1',
    'not ok 2 - test/pages/b.test.ts # time=3ms\nnot ok 3 - timeout!\nnot ok 4 - a.test.ts\n1..4',
  );
  t.strictSame(readFailedFiles(run), ['a.test.ts']);
  t.strictSame(readFailedFiles(timedOut), ['a.test.ts', 'test/pages/b.test.ts']);
  t.strictSame(readFailedFiles(timedOut.replace(/^# \{.*$/m, '')), []);
});
