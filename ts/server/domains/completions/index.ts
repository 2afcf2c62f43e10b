/**
 * The completions module: what a client asks of a model in the shapes of OpenAI's and Anthropic's APIs. An answer goes through conversations and
 * knowledge bases on its way to the model, so the module stands above those that have them.
 */
import { defineModule } from '../../platform/module/module.ts';
import { completionSettings } from './settings.ts';
import { responseMigrations } from './stored-responses/migrations.ts';

export const completions = defineModule({
  name: 'completions',
  recordedAs: 'inference',
  settings: completionSettings,
  migrations: responseMigrations,
  create: async (context) => (await import('./completions-module.ts')).createCompletions(context),
});
