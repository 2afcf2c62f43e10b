/** A task for tests of how large bodies are read. */
import Type from 'typebox';
import { BodyReader } from '../body/body-reader.ts';
import { type ReadBodyTask, readBodyInThread } from '../body/read-body-task.ts';
import { HttpError } from '../errors.ts';

export const Acted = Type.Object({ act: Type.String(), text: Type.String() });

/** Some of the acts end the thread, and only where one runs. */
export function read(body: { act: string; text: string }): { act: string; text: string | Uint8Array } {
  if (body.act === 'refuse') throw new HttpError(409, 'refused_here', 'The body is refused.', { param: 'act' });
  return body;
}

export const run: ReadBodyTask = ({ bytes }) =>
  readBodyInThread({ reader: new BodyReader(Acted, 'plain', { read } as never), pack }, bytes);

function pack(value: unknown): unknown {
  const body = value as { act: string; text: string };
  if (body.act === 'exit') process.exit(1);
  if (body.act === 'grow') for (const held = []; ; ) held.push(new Array(100_000).fill(held.length));
  return { ...body, text: Buffer.from(body.text) };
}
