/** A request as a job of the engine: what cannot fit is refused, and large bytes are in native memory before the job is. */
import type { DecodedMedia, GenerationJob, Prompt, QueuedBytes, StagedBytes, Text } from '../../../native/llama-shapes.ts';
import type { CallOptions, ChatPrompt } from '../backend.ts';
import { inferenceError } from '../errors.ts';
import { promptTooLong } from '../failure.ts';
import { promptBytes } from '../usage/prompt-estimate.ts';
import type { NativeBinding } from './native-binding.ts';

/** `adapters` are those that the model was loaded with; `spentMs` is gone of the caller's time. */
export function localJob(
  job: Omit<GenerationJob, 'tenant'>,
  adapters: readonly string[],
  options: CallOptions,
  spentMs: number,
): GenerationJob {
  const loras = job.loras ? { loras: job.loras.map(({ name, scale }) => ({ name: adapterName(name, adapters), scale })) } : {};
  return { ...job, ...loras, ...timeLeft(options, spentMs), tenant: options.tenant };
}

/** Native code counts from now on; a time that has passed is told by it as well. */
export function timeLeft({ timeoutMs }: CallOptions, spentMs: number): { timeoutMs?: number } {
  return timeoutMs === undefined ? {} : { timeoutMs: Math.max(1, Math.ceil(timeoutMs - spentMs)) };
}

/** llama-server names adapters by their index. */
function adapterName(name: string, adapters: readonly string[]): string {
  const found = adapters.includes(name) ? name : /^\d+$/.test(name) ? adapters[Number(name)] : undefined;
  if (found !== undefined) return found;
  const known = adapters.join(', ') || 'none';
  throw inferenceError('invalid_request', `lora names the adapter ${name}, which this model does not have; it has: ${known}.`, {
    param: 'lora',
  });
}

/** Smaller ones are copied with the request. */
const leastStagedBytes = 256 * 1024;
/** Small texts that are copied between two turns of the event loop may come to this much. */
const mostBytesAtOnce = 1024 * 1024;

type Job = Omit<GenerationJob, 'tenant'>;

/** Hands large bytes of a request to native memory before the request itself, which then takes them without a copy. */
export class Staging {
  readonly #binding: NativeBinding;

  constructor(binding: NativeBinding) {
    this.#binding = binding;
  }

  async job(job: Job): Promise<Job> {
    const { prompt, media, jsonSchema, toolSchemas } = job;
    if (media === undefined && ![jsonSchema, toolSchemas, ...Object.values(prompt)].some(isBytes)) return job;
    return {
      ...job,
      prompt: prompt.kind === 'chat' ? await this.prompt(prompt) : prompt,
      ...(media === undefined ? {} : { media: await this.#media(media) }),
      ...(jsonSchema === undefined ? {} : { jsonSchema: await this.text(jsonSchema) }),
      ...(toolSchemas === undefined ? {} : { toolSchemas: await this.text(toolSchemas) }),
    };
  }

  async prompt(prompt: ChatPrompt): Promise<ChatPrompt> {
    const { messagesJson, toolsJson, templateKwargsJson } = prompt;
    if (![messagesJson, toolsJson, templateKwargsJson].some(isBytes)) return prompt;
    return {
      ...prompt,
      messagesJson: await this.text(messagesJson),
      ...(toolsJson === undefined ? {} : { toolsJson: await this.text(toolsJson) }),
      ...(templateKwargsJson === undefined ? {} : { templateKwargsJson: await this.text(templateKwargsJson) }),
    };
  }

  /** Small ones too where they are many, since they are copied in one go otherwise. */
  async texts<T extends Text | Int32Array>(texts: T[]): Promise<(T | StagedBytes)[]> {
    if (texts.reduce((sum, text) => sum + sizeOf(text), 0) < leastStagedBytes) return texts;
    const staged: (T | StagedBytes)[] = [];
    let pendingBytes = 0;
    for (const text of texts) {
      staged.push(isBytes(text) ? await this.#binding.stageBytes(text) : text);
      pendingBytes += sizeOf(text);
      if (pendingBytes < mostBytesAtOnce) continue;
      pendingBytes = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return staged;
  }

  async #media(media: readonly DecodedMedia[]): Promise<DecodedMedia[]> {
    const bytes = await this.texts(media.map((part) => (part.kind === 'image' ? part.pixels : part.samples)));
    return media.map((part, index) => {
      const staged = bytes[index] as Uint8Array | StagedBytes;
      return part.kind === 'image' ? { ...part, pixels: staged } : { ...part, samples: staged };
    });
  }

  async text<T extends Text>(text: T): Promise<T | StagedBytes> {
    return isBytes(text) && sizeOf(text) >= leastStagedBytes ? this.#binding.stageBytes(text) : text;
  }
}

function isBytes(value: unknown): value is Uint8Array | QueuedBytes {
  return value instanceof Uint8Array || (typeof value === 'object' && value !== null && 'sizeBytes' in value);
}

function sizeOf(value: unknown): number {
  if (!isBytes(value)) return 0;
  return value instanceof Uint8Array ? value.length : value.sizeBytes;
}

/** Text has four bytes a token or so, and JSON doubles few of them. What is within this is counted exactly by the engine. */
const bytesPerToken = 64;
/** The bytes that a prompt may have for short contexts too: tools and what a template leaves out may be long. */
const leastPromptBytes = 8 * 1024 * 1024;

/**
 * Prompts that cannot fit are refused by their bytes, before they are copied, rendered and tokenised: that takes seconds for a hundred
 * megabytes, while others wait. Throws context_length_exceeded.
 */
export function refuseByBytes(prompt: Prompt, nCtx: number): void {
  const sizeBytes = promptBytes(prompt);
  const maxBytes = Math.max(leastPromptBytes, nCtx * bytesPerToken);
  if (sizeBytes <= maxBytes) return;
  const sentence = `it has ${sizeBytes} bytes, and at most ${maxBytes} are tokenised for it`;
  throw promptTooLong(sentence, { nPromptTokens: Math.ceil(sizeBytes / bytesPerToken), nCtx });
}
