/** The memory module: what people asked to be remembered stays, is found when it matters, and can be seen, corrected and forgotten. */
import { defineModule, type ModuleDefinition } from '../../platform/module/module.ts';
import type { MemoryApi, MemoryOverrides } from './memory-module.ts';
import { FILES_FOLDER, memorySettings } from './settings.ts';
import { memoryMigrations } from './tables.ts';

export { memoryErrors } from './errors.ts';
export type { MemoryKind, RecallBounds, RecalledMemories } from './memory.ts';
export type { MemoryApi } from './memory-module.ts';
export type { ChosenRoute } from './router/router.ts';

/** Tests put another clock in place of the machine's. */
export function defineMemory(overrides: MemoryOverrides = {}): ModuleDefinition<typeof memorySettings, MemoryApi> {
  return defineModule({
    name: 'memory',
    settings: memorySettings,
    migrations: memoryMigrations,
    stateFiles: [{ name: FILES_FOLDER, kind: 'folder' }],
    // Imported here, so that a program that only reads settings does not load the whole module.
    create: async (context) => (await import('./memory-module.ts')).createMemory(context, overrides),
  });
}

export const memory = defineMemory();
