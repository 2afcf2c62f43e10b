/** The memory module: what people asked to be remembered stays, is found when it matters, and can be seen, corrected and forgotten. */
import { defineModule } from '../../platform/module/module.ts';
import { memorySettings } from './settings.ts';
import { memoryMigrations } from './tables.ts';

export { memoryErrors } from './errors.ts';
export type { MemoryKind, RecallBounds, RecalledMemories } from './memory.ts';
export type { MemoryApi } from './memory-module.ts';

export const memory = defineModule({
  name: 'memory',
  settings: memorySettings,
  migrations: memoryMigrations,
  // Imported here, so that a program that only reads settings does not load the whole module.
  create: async (context) => (await import('./memory-module.ts')).createMemory(context),
});
