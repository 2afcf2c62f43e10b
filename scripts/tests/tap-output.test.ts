import t from 'tap';
import { endOfFile, readFiles, readTap } from './tap-output.ts';

const run = `TAP version 14
# Subtest: a
    ok 1 - fine
      ---
      time: 1
      ...
    not ok 2 - should be equal
      ---
      diff: |
        -1
        +2
        not ok: a word of it
      ...
    not ok 3 - known # TODO later
    ok 4 - two # SKIP no disk for it
    1..4
not ok 1 - a # time=12ms
ok 2 - b # SKIP
1..2
# { total: 4, pass: 1, fail: 1, todo: 1, skip: 2 }
# time=13ms
`;

t.test('failures keep their diagnosis; what passed or is known does not show', async (t) => {
  t.equal(
    readTap(run, 1).failures,
    `    not ok 2 - should be equal
      ---
      diff: |
        -1
        +2
        not ok: a word of it
      ...
not ok 1 - a # time=12ms`,
  );
});

t.test('totals are those of the process, and what was skipped says why', async (t) => {
  const skips = ['two: no disk for it', 'b: no reason given'];
  t.match(readTap(run, 1), { passed: 1, failed: 1, skipped: 2, skips });
  const all = readTap('TAP version 14\n1..0 # no browser\n# { total: 0, pass: 0 }\n', 0);
  t.strictSame(all, { passed: 0, failed: 0, skipped: 1, skips: ['all of it: no browser'], failures: '' });
});

t.test('a process that broke off or ended with a code has failed', async (t) => {
  t.match(readTap('TAP version 14\nok 1 - a\n', 0), { passed: 0, failed: 1 });
  t.match(readTap('ok 1 - a\n# { total: 1, pass: 1 }\n', 1), { passed: 1, failed: 1 });
  t.match(readTap('ok 1 - a\n# { total: 1, pass: 1 }\n', null), { failed: 1 });
  t.match(readTap('ok 1 - a\n# { total: 1, pass: 1 }\n', 0), { passed: 1, failed: 0, failures: '' });
});

t.test('of a process that runs several files, each has its own', async (t) => {
  const cost = { wallSeconds: 1.5, cpuSeconds: 0.25 };
  const end = (file: string, fail: number) => `# ${endOfFile(file, { pass: 1, fail, skip: 0 }, cost).replace('\n', '\n# ')}\n`;
  const tap = `TAP version 14\nok 1 - a\n${end('a.test.ts', 0)}not ok 2 - b\n${end('b.test.ts', 1)}ok 3 - c\n`;
  const files = readFiles(tap);
  t.strictSame([...files.keys()], ['a.test.ts', 'b.test.ts'], 'the third was not ended');
  t.match(files.get('a.test.ts'), { cost, outcome: { passed: 1, failed: 0, failures: '' } });
  t.match(files.get('b.test.ts'), { cost, outcome: { passed: 1, failed: 1, failures: 'not ok 2 - b' } });
});
