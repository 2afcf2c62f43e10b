import fc from 'fast-check';
import t from 'tap';
import { findJsonTextFault, makeWellFormed, mayHoldFaultyText, textFault } from './given-text.ts';

/** Strings of any code units, halves of pairs and NULs among them. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('\0', '\ud83d', '\ude00', '\ud83d\ude00', 'a', '"', '\\'), { maxLength: 4 })
    .map((units) => units.join('')),
  fc.constantFrom('\0', 'a\ud83d', '\ude00b'),
);
const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    anyText,
    fc.double(),
    fc.constant(null),
    fc.array(tie('value')),
    fc.dictionary(anyText, tie('value')),
  ),
})).value;

t.test('a text is refused for a NUL and for half of a pair alone', (t) => {
  for (const text of ['', 'a', 'ü', '漢字', '🦙', '\uFFFD', '\n\t\u0001', 'a\u0301']) t.equal(textFault(text), undefined, text);
  t.match(textFault('a\0b'), /NUL/);
  for (const text of ['\ud800', 'a\udc00', '\ude00\ud83d']) t.match(textFault(text), /surrogate/);
  t.end();
});

t.test('a JSON document is found faulty by its member, wherever the text stands', (t) => {
  t.strictSame(findJsonTextFault({ a: [{ b: 'x\0' }] })?.member, 'a[0].b');
  t.match(findJsonTextFault({ a: { 'x\0': 1 } }), { member: 'a', fault: /name holds a NUL/ });
  t.strictSame(findJsonTextFault('\ud800')?.member, '');
  t.end();
});

t.test('no faulty text is overlooked in what is written as JSON, and what is made well-formed has no half of a pair', (t) => {
  fc.assert(
    fc.property(anyJson, (value) => {
      const json = JSON.stringify(value);
      const fault = findJsonTextFault(JSON.parse(json));
      if (fault !== undefined && !mayHoldFaultyText(json)) return false;
      const mended = findJsonTextFault(makeWellFormed(JSON.parse(json)));
      return mended === undefined || mended.fault.includes('NUL');
    }),
  );
  t.end();
});
