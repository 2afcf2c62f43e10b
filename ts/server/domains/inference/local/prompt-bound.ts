/**
 * Prompts that cannot fit are refused by their bytes, before they are copied, rendered and tokenised: that takes seconds for a hundred
 * megabytes, while others wait.
 */
import type { Prompt } from '../../../native/llama-shapes.ts';
import { inferenceError } from '../errors.ts';
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
  // Clients look for the words "maximum context length", OpenAI's own.
  const sentence = `the prompt has ${sizeBytes} bytes and the context holds ${nCtx} tokens, its maximum context length; at most ${maxBytes} bytes are tokenised for it`;
  const extra = { n_prompt_tokens: Math.ceil(sizeBytes / bytesPerToken), n_ctx: nCtx };
  throw inferenceError('context_length_exceeded', sentence, { extra });
}
