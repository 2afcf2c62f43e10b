/** The part of a route's declaration that says how its body is read. */
import type { BodyReading } from '../../../platform/http/body/body-reading.ts';
import { defineTask } from '../../../platform/pool/task-spec.ts';
import { type BodyReaderName, bodyReaders } from './body-readers.ts';

type Readers = typeof bodyReaders;
type BodyOf<Name extends BodyReaderName> = Parameters<Readers[Name]['read']>[0];
type CallOf<Name extends BodyReaderName> = ReturnType<Readers[Name]['read']>;

const task = defineTask<typeof import('../../../../workers/read-inference-body.ts').run>(
  'read_inference_body',
  new URL('../../../../workers/read-inference-body.ts', import.meta.url),
);

interface ReadsBody<Name extends BodyReaderName> {
  body: Readers[Name]['schema'];
  reading: BodyReading<BodyOf<Name>, CallOf<Name>>;
  /** Prompts hold what people and tools wrote. */
  bodyTexts: 'free';
}

export function readsBody<Name extends BodyReaderName>(name: Name): ReadsBody<Name> {
  const { schema, read } = bodyReaders[name];
  const reading = { read, thread: { task, reader: name } } as unknown as BodyReading<BodyOf<Name>, CallOf<Name>>;
  return { body: schema, reading, bodyTexts: 'free' };
}
