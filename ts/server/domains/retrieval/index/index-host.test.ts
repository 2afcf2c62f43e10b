import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { packTerms, termVector } from '../terms/term-vector.ts';
import { FlatVectors } from './flat-vectors.ts';
import { IndexHost } from './index-host.ts';
import type { IndexOperation, IndexOperations } from './index-messages.ts';

t.test('searches are answered while segments are being merged', async (t) => {
  const host = new IndexHost({ create: () => undefined, open: () => Promise.reject(new Error('nothing was saved')) });
  const ask = <O extends IndexOperation>(operation: O, input: IndexOperations[O]['input']) =>
    host.answer({ id: 1, operation, input });
  const none = { numbers: new Float64Array(), marks: new Float64Array(), counts: new Uint32Array() };
  await ask('open', { key: 1, label: 'base', saved: undefined, documents: none });
  const text = Array.from({ length: 400 }, (_, i) => `word${i}`).join(' ');
  const terms = packTerms(termVector(text));
  const batch = (documentNo: number) => Array.from({ length: 40 }, (_, seq) => ({ documentNo, seq, terms, vector: undefined }));
  const replies = [1, 2, 3, 4, 5, 6, 7, 8].map((documentNo) => ask('add', { key: 1, passages: batch(documentNo) }));
  t.ok(replies.at(-1) instanceof Promise, 'the last one is merging still');
  const query = { question: 'word7', vector: undefined, denseWeight: 0, k: 1_000, documents: undefined };
  t.match(ask('search', { key: 1, query }), { output: { hits: { length: 320 } } });
  t.match((await Promise.all(replies)).at(-1), { output: { nPassages: 320 } });
  t.match(ask('search', { key: 1, query }), { output: { hits: { length: 320 } } });
});

t.test('an index that is dropped while it is being saved is not saved without its vectors', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-host-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const linked = Promise.withResolvers<void>();
  const host = new IndexHost({
    create: (dimensions) =>
      Object.assign(new FlatVectors(dimensions), {
        ids: () => new Float64Array(),
        link: () => linked.promise,
        save: async () => undefined,
      }),
    open: () => Promise.reject(new Error('nothing was saved')),
  });
  const ask = <O extends IndexOperation>(operation: O, input: IndexOperations[O]['input']) =>
    host.answer({ id: 1, operation, input });
  const none = { numbers: new Float64Array(), marks: new Float64Array(), counts: new Uint32Array() };
  await ask('open', { key: 1, label: 'base', saved: undefined, documents: none });
  const terms = packTerms(termVector('rye bread'));
  await ask('add', { key: 1, passages: [{ documentNo: 1, seq: 0, terms, vector: Float32Array.of(1, 0) }] });
  const place = { folder: join(folder, 'base'), label: 'base' };
  const saved = ask('save', { key: 1, place });
  await ask('drop', { key: 1 });
  linked.resolve();
  t.strictSame(await saved, { id: 1, output: { isSaved: false } });
  t.notOk(existsSync(place.folder));
});
