/** States and abilities of models in the language of the page. What a newer server says besides stays as it says it. */
import type { ConsoleTextKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/language.ts';

const STATES: Readonly<Record<string, ConsoleTextKey>> = {
  inspecting: 'model_inspecting',
  unloaded: 'model_unloaded',
  loading: 'model_loading',
  loaded: 'model_loaded',
  unloading: 'model_unloading',
  unusable: 'model_unusable',
  remote: 'model_remote',
};
const ABILITIES: Readonly<Record<string, ConsoleTextKey>> = {
  chat: 'capability_chat',
  tools: 'capability_tools',
  vision: 'capability_vision',
  audio: 'capability_audio',
  thinking: 'capability_thinking',
  embeddings: 'capability_embeddings',
  rerank: 'capability_rerank',
};

/** As a probe names them. */
const MEASURED: Readonly<Record<string, ConsoleTextKey>> = {
  answers: 'measured_answers',
  cites: 'measured_cites',
  denies: 'measured_denies',
  follows_schema: 'measured_follows_schema',
  calls_tools: 'measured_calls_tools',
  refers: 'measured_refers',
};

export function measuredName(ability: string): string {
  const key = MEASURED[ability];
  return key === undefined ? ability : t(key);
}

export function modelStateName(state: string): string {
  const key = STATES[state];
  return key === undefined ? state : t(key);
}

export function abilityName(ability: string): string {
  const key = ABILITIES[ability];
  return key === undefined ? ability : t(key);
}
