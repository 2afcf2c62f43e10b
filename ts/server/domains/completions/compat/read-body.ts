/** The part of a route's declaration that says how its body is read, and how large it may be. */
import type { Static, TSchema } from 'typebox';
import type { BodyReading } from '../../../platform/http/route.ts';
import { defineTask } from '../../../platform/pool/task-spec.ts';
import type { BodyReaderSpec } from './body-reader.ts';

/** Largest request body, bytes (128 MB). */
export const maxBodyBytes = 128 * 1024 * 1024;

/** Largest body of a request for the tokenizer alone, bytes: its answers are several times as large. */
export const maxTokenizerBodyBytes = 8 * 1024 * 1024;

const task = defineTask<typeof import('../../../../workers/read-inference-body.ts').run>(
  'read_inference_body',
  new URL('../../../../workers/read-inference-body.ts', import.meta.url),
);

interface BodyDeclaration<S extends TSchema, R> {
  body: S;
  reading: BodyReading<Static<S>, R>;
  /** Prompts hold what people and tools wrote. */
  bodyTexts: 'free';
}

export function readBody<S extends TSchema, R>({ name, schema, read }: BodyReaderSpec<string, S, R>): BodyDeclaration<S, R> {
  return { body: schema, reading: { read, thread: { task, reader: name } }, bodyTexts: 'free' };
}
