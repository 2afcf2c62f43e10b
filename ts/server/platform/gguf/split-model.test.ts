import t from 'tap';
import { splitModelPaths } from './split-model.ts';

t.test('a model that is not split is one file', async (t) => {
  t.strictSame(splitModelPaths('/models/a.gguf', {}), ['/models/a.gguf']);
});

t.test('any part names all parts in order', async (t) => {
  t.strictSame(splitModelPaths('/models/a-00002-of-00003.gguf', { split: { index: 1, count: 3 } }), [
    '/models/a-00001-of-00003.gguf',
    '/models/a-00002-of-00003.gguf',
    '/models/a-00003-of-00003.gguf',
  ]);
});

t.test('a part under another name is refused', async (t) => {
  t.throws(() => splitModelPaths('/models/a.gguf', { split: { index: 0, count: 3 } }), /must be named \*-00001-of-00003\.gguf/);
  t.throws(() => splitModelPaths('/models/a-00002-of-00003.gguf', { split: { index: 0, count: 3 } }), RangeError);
});
