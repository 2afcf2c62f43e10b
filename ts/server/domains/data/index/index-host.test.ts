import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { packTerms, termVector } from '../terms/term-vector.ts';
import { FlatVectors } from './flat-vectors.ts';
import { IndexHost } from './index-host.ts';
import type { IndexOperation, IndexOperations } from './index-messages.ts';

t.test('a base that is dropped while it is being kept is not kept without its vectors', async (t) => {
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
    open: () => Promise.reject(new Error('nothing was kept')),
  });
  const ask = <O extends IndexOperation>(operation: O, input: IndexOperations[O]['input']) =>
    host.answer({ id: 1, operation, input });
  const none = { numbers: new Float64Array(), marks: new Float64Array(), counts: new Uint32Array() };
  await ask('open', { key: 1, label: 'base', kept: undefined, documents: none });
  const terms = packTerms(termVector('rye bread'));
  await ask('add', { key: 1, passages: [{ documentNo: 1, seq: 0, terms, vector: Float32Array.of(1, 0) }] });
  const place = { folder: join(folder, 'base'), label: 'base' };
  const kept = ask('keep', { key: 1, place });
  await ask('drop', { key: 1 });
  linked.resolve();
  t.strictSame(await kept, { id: 1, output: { isKept: false } });
  t.notOk(existsSync(place.folder));
});
