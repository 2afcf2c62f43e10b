/** A task of the worker pool: reads a large body of an inference route, so that parsing it does not hold up the event loop. */
import { bodyReaders } from '../server/domains/completions/body-readers.ts';
import { BodyReader } from '../server/platform/http/body/body-reader.ts';
import { type PackingReader, type ReadBodyTask, readBodyInThread } from '../server/platform/http/body/read-body-task.ts';

const readers = new Map<string, PackingReader>();

export const run: ReadBodyTask = ({ reader, bytes }) => readBodyInThread(readerOf(reader), bytes);

/** Schemas are compiled when they are first needed. */
function readerOf(name: string): PackingReader {
  const known = readers.get(name);
  if (known) return known;
  const spec = Object.values(bodyReaders).find((each) => each.name === name);
  if (spec === undefined) throw new Error(`there is no reader ${name}`);
  const reading = spec as unknown as { read(body: unknown, sizeBytes: number): unknown; pack(value: unknown): unknown };
  const made = { reader: new BodyReader(spec.schema, 'free', reading), pack: reading.pack };
  readers.set(name, made);
  return made;
}
