/** What automata take together (grammar_memory_test.cpp). */
import t from 'tap';
import { linesOf, noReferences } from './reference.ts';

t.test('automata that grow while they run stay within one bound, and small ones go on', { skip: noReferences() }, async (t) => {
  const [line] = await linesOf('grammar-memory-test', []);
  const [nRefused, isBounded, goesOn, nLeft] = (line ?? '').split(' ').map(Number);
  t.ok((nRefused ?? 0) >= 4, `${nRefused} of 6 were refused`);
  t.strictSame({ isBounded, goesOn, nLeft }, { isBounded: 1, goesOn: 1, nLeft: 0 });
});
