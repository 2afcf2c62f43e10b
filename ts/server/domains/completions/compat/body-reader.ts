/**
 * How the body of one route is read: its schema, and the translation to what the handler gets. Worker threads read large bodies by the same
 * readers, so what a reader imports is pure: it knows neither the engine nor the server.
 */
import type { Static, TSchema } from 'typebox';
import type { Text } from '../../../native/llama-shapes.ts';
import type { ChatPrompt, CompletionRequest } from '../../inference/index.ts';

export interface BodyReaderSpec<Name extends string, S extends TSchema, R> {
  /** Tells a worker thread which reader it is. */
  readonly name: Name;
  readonly schema: S;
  read(body: Static<S>, sizeBytes: number): R;
  /** Returns the same with its long text as UTF-8 bytes: these move between threads, while strings are copied by the event loop. */
  pack(result: R): R;
}

export function bodyReader<const Name extends string, S extends TSchema, R>(
  name: Name,
  schema: S,
  read: (body: Static<S>, sizeBytes: number) => R,
  pack: (result: R) => R = (result) => result,
): BodyReaderSpec<Name, S, R> {
  return { name, schema, read, pack };
}

export function packRequest(request: CompletionRequest): CompletionRequest {
  const { job } = request;
  const { prompt, jsonSchema, toolSchemas } = job;
  const packed = prompt.kind === 'chat' ? packPrompt(prompt) : prompt;
  const schemas = {
    ...(jsonSchema === undefined ? {} : { jsonSchema }),
    ...(toolSchemas === undefined ? {} : { toolSchemas }),
  };
  return { ...request, job: { ...job, prompt: packed, ...packTexts(schemas) } };
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
