/** Texts and media of a request that may wait at a message port: whoever sends them elsewhere takes them in hand. */
import type { Prompt, QueuedBytes, Text } from '../../native/llama-shapes.ts';
import { takeQueuedBytes } from '../../platform/http/body/queued-bytes.ts';
import type { CompletionRequest } from './backend.ts';

/** The same request with its texts and media in hand: what waits at a port can be read once, and another attempt may have to read it too. */
export function holdTexts(request: CompletionRequest): CompletionRequest {
  const { job } = request;
  const { prompt, jsonSchema, toolSchemas, media } = job;
  return {
    ...request,
    job: {
      ...job,
      prompt: heldPrompt(prompt),
      ...heldMembers({ jsonSchema, toolSchemas }, ['jsonSchema', 'toolSchemas']),
      ...(media && { media: media.map((one) => ({ ...one, bytes: bytesOf(one.bytes) })) }),
    },
  };
}

function heldPrompt(prompt: Prompt): Prompt {
  if (prompt.kind === 'text') return { ...prompt, ...heldMembers(prompt, ['text']) };
  return prompt.kind === 'chat'
    ? { ...prompt, ...heldMembers(prompt, ['messagesJson', 'toolsJson', 'templateKwargsJson']) }
    : prompt;
}

function heldMembers<T extends object, K extends keyof T>(members: T, names: readonly K[]): Partial<Pick<T, K>> {
  const held = names.flatMap((name) => {
    const text = members[name] as Text | undefined;
    return text === undefined ? [] : [[name, typeof text === 'string' ? text : bytesOf(text)] as const];
  });
  return Object.fromEntries(held) as Partial<Pick<T, K>>;
}

export function bytesOf(bytes: Exclude<Text, string>): Buffer {
  if (bytes instanceof Uint8Array) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return takeQueuedBytes(bytes as QueuedBytes);
}

/** Can be read once where its bytes wait at a port. */
export function textOf(text: Text): string {
  return typeof text === 'string' ? text : bytesOf(text).toString();
}
