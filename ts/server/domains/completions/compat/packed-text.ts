/** Text as UTF-8 bytes. They move between threads, while strings are copied by the event loop. */

import type { Text } from '../../../native/llama-shapes.ts';
import type { ChatPrompt, CompletionRequest } from '../../inference/index.ts';

export function packRequest(request: CompletionRequest): CompletionRequest {
  const { job } = request;
  const { prompt, jsonSchema } = job;
  const packed = prompt.kind === 'chat' ? packPrompt(prompt) : prompt;
  return { ...request, job: { ...job, prompt: packed, ...(jsonSchema === undefined ? {} : packTexts({ jsonSchema })) } };
}

export function packPrompt(prompt: ChatPrompt): ChatPrompt {
  const { messagesJson, toolsJson, templateKwargsJson } = prompt;
  return {
    ...prompt,
    ...packTexts({ messagesJson }),
    ...(toolsJson === undefined ? {} : packTexts({ toolsJson })),
    ...(templateKwargsJson === undefined ? {} : packTexts({ templateKwargsJson })),
  };
}

/** An array of texts, or an object of them; what is no string stays. */
export function packTexts<T extends Record<string, Text> | (Text | Int32Array)[]>(texts: T): T {
  if (Array.isArray(texts)) return texts.map(pack) as T;
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, pack(text)])) as T;
}

function pack<T>(text: T): T | Uint8Array {
  return typeof text === 'string' ? Buffer.from(text, 'utf8') : text;
}
