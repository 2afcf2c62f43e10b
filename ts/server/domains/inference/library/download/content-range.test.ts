import fc from 'fast-check';
import t from 'tap';
import { parseContentRange } from './download-plan.ts';

t.test('reads the three forms of RFC 9110', async (t) => {
  t.strictSame(parseContentRange('bytes 5-9/10'), { start: 5, end: 9, sizeBytes: 10 });
  t.strictSame(parseContentRange('bytes 5-9/*'), { start: 5, end: 9 });
  t.strictSame(parseContentRange('bytes */10'), { sizeBytes: 10 });
});

t.test('refuses what contradicts itself', async (t) => {
  for (const header of [
    undefined,
    '',
    'bytes',
    'bytes 9-5/10',
    'bytes 5-10/10',
    'items 5-9/10',
    'bytes -5/10',
    'bytes 5-9/10,',
  ]) {
    t.equal(parseContentRange(header), undefined, String(header));
  }
});

t.test('every sound range survives writing and reading', async (t) => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.nat(), (start, length, rest) => {
      const range = { start, end: start + length, sizeBytes: start + length + rest + 1 };
      t.strictSame(parseContentRange(`bytes ${range.start}-${range.end}/${range.sizeBytes}`), range);
    }),
    { numRuns: 50 },
  );
});
