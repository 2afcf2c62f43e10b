/** The science module: sources of records as data, asked in their pace, in one form of answer. */
import { defineModule } from '../../platform/module/module.ts';
import { scienceSettings } from './settings.ts';
import { scienceMigrations } from './tables.ts';

export const science = defineModule({
  name: 'science',
  settings: scienceSettings,
  migrations: scienceMigrations,
  stateFiles: [{ name: 'science', kind: 'folder' }],
  // Imported here, so that a program that only reads settings does not load the whole module.
  create: async (context) => (await import('./science-module.ts')).createScience(context),
});
