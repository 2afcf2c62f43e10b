/**
 * How many tokens a prompt may come to, before anybody has tokenised it: for budgets, which are settled with what it really was, and
 * for the bound on what waits for a model to be loaded.
 */
import type { GenerationJob, Prompt, Text } from '../../../native/llama-shapes.ts';

/** English text has about four characters a token, other text fewer. */
const charactersPerToken = 3;
/** Images come to fewer tokens than text of their size; the engine's queue counts them alike. */
const mediaBytesPerToken = 64;

export function estimatePromptTokens(prompt: Prompt): number {
  if (prompt.kind === 'tokens') return prompt.tokens.length;
  const length =
    prompt.kind === 'text' ? lengthOf(prompt.text) : lengthOf(prompt.messagesJson) + lengthOf(prompt.toolsJson ?? '');
  return Math.ceil(length / charactersPerToken);
}

export function estimateJobTokens({ prompt, media = [] }: Pick<GenerationJob, 'prompt' | 'media'>): number {
  return estimatePromptTokens(prompt) + media.reduce((sum, file) => sum + Math.ceil(lengthOf(file) / mediaBytesPerToken), 0);
}

export function estimateTextTokens(inputs: readonly (Text | Int32Array)[]): number {
  return inputs.reduce(
    (sum, input) => sum + (input instanceof Int32Array ? input.length : Math.ceil(lengthOf(input) / charactersPerToken)),
    0,
  );
}

/** Characters, or bytes where there are bytes. What is staged was estimated before. */
function lengthOf(text: Text): number {
  if (typeof text === 'string' || text instanceof Uint8Array) return text.length;
  return 'sizeBytes' in text ? text.sizeBytes : 0;
}
