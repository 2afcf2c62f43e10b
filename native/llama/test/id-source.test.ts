/** Ids that came round (id_source_test.cpp). */
import t from 'tap';
import { linesOf, noReferences } from './reference.ts';

t.test('ids that come round are neither 0, which means none, nor one in use', { skip: noReferences() }, async (t) => {
  t.strictSame(await linesOf('id-source-test', []), ['4294967294 3 5 6']);
});
