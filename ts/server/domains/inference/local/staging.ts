/** Hands large bytes of a request to native memory before the request itself, which then takes them without a copy. */
import type { DecodedMedia, GenerationJob, QueuedBytes, StagedBytes, Text } from '../../../native/llama-shapes.ts';
import type { ChatPrompt } from '../backend.ts';
import type { NativeBinding } from './native-binding.ts';

/** Smaller ones are copied with the request. */
const leastBytes = 256 * 1024;
/** Small texts that are copied between two turns of the event loop may come to this much. */
const mostBytesAtOnce = 1024 * 1024;

type Job = Omit<GenerationJob, 'tenant'>;

export class Staging {
  readonly #binding: NativeBinding;

  constructor(binding: NativeBinding) {
    this.#binding = binding;
  }

  async job(job: Job): Promise<Job> {
    const { prompt, media, jsonSchema } = job;
    if (media === undefined && ![jsonSchema, ...Object.values(prompt)].some(isBytes)) return job;
    return {
      ...job,
      prompt: prompt.kind === 'chat' ? await this.prompt(prompt) : prompt,
      ...(media === undefined ? {} : { media: await this.#media(media) }),
      ...(jsonSchema === undefined ? {} : { jsonSchema: await this.text(jsonSchema) }),
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
    if (texts.reduce((sum, text) => sum + sizeOf(text), 0) < leastBytes) return texts;
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
    return isBytes(text) && sizeOf(text) >= leastBytes ? this.#binding.stageBytes(text) : text;
  }
}

function isBytes(value: unknown): value is Uint8Array | QueuedBytes {
  return value instanceof Uint8Array || (typeof value === 'object' && value !== null && 'sizeBytes' in value);
}

function sizeOf(value: unknown): number {
  if (!isBytes(value)) return 0;
  return value instanceof Uint8Array ? value.length : value.sizeBytes;
}
