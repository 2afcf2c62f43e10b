/**
 * Prompts that cannot fit are refused by their bytes, before they are copied, rendered and tokenised: that takes seconds for a hundred
 * megabytes, while others wait.
 */
import type { Prompt } from '../../../native/llama-shapes.ts';
import { promptTooLong } from '../failure.ts';
import { promptBytes } from '../usage/prompt-estimate.ts';

/** Text has four bytes a token or so, and JSON doubles few of them. What is within this is counted exactly by the engine. */
const bytesPerToken = 64;
/** Of short contexts too: tools and what a template leaves out may be long. */
const leastBytes = 8 * 1024 * 1024;

/** Throws context_length_exceeded. */
export function refuseByBytes(prompt: Prompt, nCtx: number): void {
  const sizeBytes = promptBytes(prompt);
  const maxBytes = Math.max(leastBytes, nCtx * bytesPerToken);
  if (sizeBytes <= maxBytes) return;
  const sentence = `it has ${sizeBytes} bytes, and at most ${maxBytes} are tokenised for it`;
  throw promptTooLong(sentence, { nPromptTokens: Math.ceil(sizeBytes / bytesPerToken), nCtx });
}
