import fc from 'fast-check';
import t from 'tap';
import { limitMarks, normalized } from './normalized.ts';

const anyText = fc.string({ unit: fc.constantFrom('a', 'é', 'ﬁ', '漢', '\u0301', '\u0316', '\uff9e', '\ud800'), maxLength: 80 });

t.test('up to thirty marks of a base stay, and the normal form is Unicode’s', async () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const hasMany = /[\p{M}\uff9e\uff9f]{31}/u.test(text);
      return hasMany || (limitMarks(text) === text && normalized(text, 'NFKC') === text.normalize('NFKC'));
    }),
  );
});

t.test('further ones are left out, and limiting again changes nothing', async (t) => {
  t.equal(limitMarks(`a${'\u0301'.repeat(100)}b\u0316`), `a${'\u0301'.repeat(30)}b\u0316`);
  fc.assert(fc.property(anyText, (text) => limitMarks(limitMarks(text)) === limitMarks(text)));
});
