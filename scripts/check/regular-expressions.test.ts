import t from 'tap';
import { checkRegularExpressions, faultsOf } from './regular-expressions.ts';

t.test('repetitions that take the same characters are found', async (t) => {
  for (const literal of [
    String.raw`/<(?=\s*\/?\s*file\b)/gi`,
    String.raw`/^(#+)\s+(.*?)\s*$/`,
    String.raw`/\s+$/`,
    String.raw`/[^\S\n]+$/gm`,
    '/(?:a+)+b/',
    '/(?:a|a)*b/u',
    String.raw`/[\p{L}--[a-z]]+$/v`,
  ])
    t.not(faultsOf(literal).length, 0, literal);
});

t.test('those that do not are accepted', async (t) => {
  for (const literal of [
    String.raw`/<(?=\s*(?:\/\s*)?file\b)/gi`,
    String.raw`/(?<!\s)\s+$/`,
    String.raw`/^\s+/`,
    String.raw`/\s+/g`,
    '/={1,2}$/',
    '/[a-z]/',
  ])
    t.strictSame(faultsOf(literal), [], literal);
});

t.test('patterns are named with their files and lines, and those of tests are left out', async (t) => {
  const source = 'const a = b / c / d;\nconst e = "/f+$/";\nconst g = /x+$/;\n';
  const root = t.testdir({
    ts: {
      server: { 'a.ts': source, 'a.test.ts': source, 'test-support': { 'b.ts': source } },
      web: { 'c.tsx': 'const d = <p>/x+$/</p>;' },
    },
  });
  const { nExpressions, findings } = checkRegularExpressions(root);
  t.equal(nExpressions, 1);
  t.match(findings, [/^ts\/server\/a\.ts:3: \/x\+\$\/: x\+ begins anew/]);
  t.equal(findings.length, 1);
});
