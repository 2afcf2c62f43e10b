/**
 * How many tokens a prompt may come to, before anybody has tokenised it: for budgets, which are settled with what it really was, and
 * for the bound on what waits for a model to be loaded.
 */
import type { Prompt, Text } from '../../../native/llama-shapes.ts';
import type { ChatPrompt, CompletionRequest } from '../backend.ts';
import type { EncodedMedia } from '../media/encoded-media.ts';

/** English text has about four characters a token, other text fewer. */
const charactersPerToken = 3;
/** Patches of 28 pixels a side are usual, and so is a limit to their number. */
const pixelsPerToken = 28 * 28;
const maxImageTokens = 4096;
/** Encoders of sounds make 25 tokens of a second, which is 32 KB of WAVE at 16 kHz. */
const soundBytesPerToken = 1280;

export function estimatePromptTokens(prompt: Prompt): number {
  if (prompt.kind === 'tokens') return prompt.tokens.length;
  const length =
    prompt.kind === 'text' ? lengthOf(prompt.text) : lengthOf(prompt.messagesJson) + lengthOf(prompt.toolsJson ?? '');
  return Math.ceil(length / charactersPerToken);
}

export function estimateJobTokens({ prompt, media = [] }: Pick<CompletionRequest['job'], 'prompt' | 'media'>): number {
  return estimatePromptTokens(prompt) + media.reduce((sum, part) => sum + estimateMediaTokens(part), 0);
}

function estimateMediaTokens(media: EncodedMedia): number {
  if (media.kind === 'image') return Math.min(maxImageTokens, Math.ceil((media.width * media.height) / pixelsPerToken));
  return Math.ceil(lengthOf(media.bytes) / soundBytesPerToken);
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

/** Counts the bytes of UTF-8, as a tokenizer reads it. */
export function textBytes(text: Text): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : lengthOf(text);
}

function chatBytes({ messagesJson, toolsJson = '', templateKwargsJson = '' }: ChatPrompt): number {
  return textBytes(messagesJson) + textBytes(toolsJson) + textBytes(templateKwargsJson);
}

export function promptBytes(prompt: Prompt): number {
  if (prompt.kind === 'chat') return chatBytes(prompt);
  return prompt.kind === 'text' ? textBytes(prompt.text) : 0;
}
