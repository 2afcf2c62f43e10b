import fc from 'fast-check';
import t from 'tap';
import { csvRows, findSeparator } from './csv.ts';

t.test('what is written as RFC 4180 says is read again', (t) => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', 'ü', ' ') });
  const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(rows, (written) => {
      const text = written.map((cells) => cells.map((each) => `"${each.replaceAll('"', '""')}"`).join(',')).join('\r\n');
      t.strictSame([...csvRows(text, ',')], written);
    }),
  );
  t.end();
});

t.test('any text ends, in as many rows as it has lines at most', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '"', ';', '\n', '\r') }), (text) => {
      t.ok([...csvRows(text, ';')].length <= text.split(/\r\n|\r|\n/).length);
    }),
  );
  t.end();
});

t.test('the separator is the one that makes columns', (t) => {
  t.equal(findSeparator('a;b;c\n1,5;2;3\n4,5;5;6'), ';');
  t.equal(findSeparator('a\tb\n1\t2\n'), '\t');
  t.equal(findSeparator('just a text,\nwith a comma somewhere'), undefined);
  t.end();
});
