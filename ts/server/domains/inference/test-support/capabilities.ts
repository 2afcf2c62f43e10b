import type { ModelCapabilities } from '../backend.ts';

/** A model that can do nothing; tests give it what theirs can. */
export const NO_CAPABILITIES: ModelCapabilities = {
  chat: false,
  completion: false,
  tools: false,
  vision: false,
  audio: false,
  thinking: false,
  embeddings: false,
  rerank: false,
};
