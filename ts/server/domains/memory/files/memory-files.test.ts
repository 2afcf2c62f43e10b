import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import type { Jobs } from '../../../platform/jobs/index.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import { episodesSection } from './filed-memories.ts';
import { writeMemoryFile } from './memory-file.ts';
import { MemoryFiles } from './memory-files.ts';

const ID = 'mem_0199a3b2-0000-7000-8000-000000000000';
const N_AT_ONCE = 80;

t.test('a look for holders that finds the threads busy is no failure of what was done before it', async (t) => {
  const folder = newFolder(t);
  mkdirSync(join(folder, 'red'));
  const held = { id: ID, kind: 'fact', text: 'pears', validFrom: 1, recordedAt: 1 } as const;
  writeMemoryFile(join(folder, 'red', 'a.exmm'), [{ kind: 'episodes', name: 'user:ann', bytes: episodesSection([held]) }], 1);
  const queue = { start: () => {}, stop: async () => {} };
  const files = new MemoryFiles({
    jobs: { define: () => queue } as unknown as Jobs,
    pins: { isPinned: async () => false },
    exportSections: async () => ({ sections: [], nMemories: 0 }),
    requireTenantWriter: () => {},
    folder,
    now: Date.now,
  });
  t.teardown(() => files.stop());
  const { signal } = new AbortController();
  const look = () => files.holders(tenantScope('red'), 'user:ann', [ID], signal);
  const all = await Promise.all(Array.from({ length: N_AT_ONCE }, look));
  t.strictSame([...new Set(all.map((found) => found?.join()))].toSorted(), ['a.exmm', undefined], 'found, or not known');
});
