/** Ours, with the settings that a knowledge base has, by each way in which vectors lie in memory. */
import { tmpdir } from 'node:os';
import { VectorIndex, type VectorIndexOptions } from '../../../ts/server/native/vector.ts';
import type { CreateLibrary } from '../vector-library.ts';

type Storage = NonNullable<VectorIndexOptions['storage']>;

const ours =
  (storage: Storage): CreateLibrary =>
  ({ dimensions }) => {
    const options: VectorIndexOptions = { dimensions, storage, ...(storage === 'f16' ? {} : { exactFolder: tmpdir() }) };
    const index = new VectorIndex(options);
    return {
      canFilter: true,
      add: (firstKey, vectors) =>
        index.addAll(
          Float64Array.from({ length: vectors.length / dimensions }, (_, i) => firstKey + i),
          vectors,
        ),
      settle: () => index.link(),
      // In the calling thread, as the thread of a knowledge base does and the rivals do.
      search: (query, k, allowed) => index.search(query, k, allowed?.bits).map(({ id }) => id),
      save: (path) => index.save(path),
      view: async (path, query) => {
        const viewed = await VectorIndex.open(path, options, { isViewed: true });
        await viewed.searchAll(query, 1);
        await viewed.close();
      },
      close: () => index.close(),
    };
  };

export const svc = ours('f16');
export const svcI8 = ours('i8');
export const svcB1 = ours('b1');
