import fc from 'fast-check';
import t from 'tap';
import { maxPatternLength, maxRequestPatternLength, PatternCheck } from './pattern-check.ts';

const faultOf = (pattern: string) => new PatternCheck().findFault(pattern);

t.test('one pattern has as many characters as may be', async (t) => {
  t.equal(faultOf('a'.repeat(maxPatternLength)), undefined);
  t.match(faultOf('a'.repeat(maxPatternLength + 1)), /has 4097 characters and may have 4096/);
});

t.test('all patterns of a request together, too', async (t) => {
  const check = new PatternCheck();
  const pattern = 'a'.repeat(maxPatternLength);
  for (let i = 0; i < maxRequestPatternLength / maxPatternLength; i++) t.equal(check.findFault(pattern), undefined);
  t.match(check.findFault('a'), /may have 65536 characters together/);
});

t.test('properties of characters are gathered once, however often patterns name them', async (t) => {
  const check = new PatternCheck();
  // The range is a fault with either flag, so that u is tried, with which V8 takes tens of milliseconds for each pattern.
  const pattern = `${'[\\p{L}\\p{M}\\P{L}]'.repeat(240)}[z-a]`;
  const before = process.cpuUsage().user;
  for (let i = 0; i < 15; i++) t.match(check.findFault(pattern), /no regular expression/);
  const ms = (process.cpuUsage().user - before) / 1_000;
  t.ok(ms < 100, `${ms.toFixed(0)} ms`);
});

t.test('it finds the faults that the engine of JavaScript finds', (t) => {
  const parts = [
    'a',
    '\\p{L}',
    '\\P{Lu}',
    '\\p{Nonsense}',
    '\\\\',
    '\\',
    'p{L}',
    '[',
    ']',
    '-',
    '^',
    '(',
    '(?<n>',
    ')',
    '{2}',
    '\\u{61}',
    '\\d',
    '\\k<n>',
    'é',
    '😀',
  ];
  const pattern = fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((all) => all.join(''));
  fc.assert(
    fc.property(pattern, (text) => (faultOf(text) === undefined) === ['', 'u'].some((flags) => isSound(text, flags))),
    { numRuns: 5_000 },
  );
  t.end();
});

function isSound(pattern: string, flags: string): boolean {
  try {
    new RegExp(pattern, flags);
    return true;
  } catch {
    return false;
  }
}
