/**
 * The completions module: what a client asks of a model in the shapes of OpenAI's and Anthropic's APIs. An answer goes through conversations and
 * knowledge bases on its way to the model, so the module stands above those that have them.
 */
import type { Static } from 'typebox';
import type { Principal } from '../../platform/http/principal.ts';
import { defineModule } from '../../platform/module/module.ts';
import type { ChatCompletion } from './compat/openai-chat/response-schema.ts';
import { completionSettings } from './settings.ts';
import { responseMigrations } from './stored-responses/migrations.ts';

export interface CompletionsApi {
  /**
   * Answers a body of POST /v1/chat/completions that is not streamed, as the caller: tools in it are the asking module's own. Throws what the route
   * refuses with.
   */
  chat(caller: Principal, body: object, signal: AbortSignal): Promise<Static<typeof ChatCompletion> & Billed>;
  /** Names of streams say on which node they are; undefined: no other node would be asked for them. */
  nameStreams(nodeId: () => string | undefined): void;
}

interface Billed {
  /** Millionths that a provider bills for the answer; 0 where its price is unknown, and for models of the node. */
  readonly costMicros: number;
}

export { isPassing } from './passing-refusals.ts';

export const completions = defineModule({
  name: 'completions',
  recordedAs: 'inference',
  settings: completionSettings,
  migrations: responseMigrations,
  create: async (context) => (await import('./completions-module.ts')).createCompletions(context),
});
