/**
 * How many tokens a prompt may come to, before anybody has tokenised it: for budgets, which are settled with what it really was, and
 * for the bound on what waits for a model to be loaded.
 */
import type { GenerationJob, Prompt } from '../../../native/llama.ts';

/** English text has about four characters a token, other text fewer. */
const charactersPerToken = 3;
/** Images come to fewer tokens than text of their size; the engine's queue counts them alike. */
const mediaBytesPerToken = 64;

export function estimatePromptTokens(prompt: Prompt): number {
  if (prompt.kind === 'tokens') return prompt.tokens.length;
  const text = prompt.kind === 'text' ? prompt.text.length : prompt.messagesJson.length + (prompt.toolsJson?.length ?? 0);
  return Math.ceil(text / charactersPerToken);
}

export function estimateJobTokens({ prompt, media = [] }: Pick<GenerationJob, 'prompt' | 'media'>): number {
  return (
    estimatePromptTokens(prompt) + media.reduce((sum, { byteLength }) => sum + Math.ceil(byteLength / mediaBytesPerToken), 0)
  );
}

export function estimateTextTokens(inputs: readonly (string | Int32Array)[]): number {
  return inputs.reduce(
    (sum, input) => sum + (typeof input === 'string' ? Math.ceil(input.length / charactersPerToken) : input.length),
    0,
  );
}
