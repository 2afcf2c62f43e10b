/** Events of work that may fail at once: what fails before the first event is a plain answer with its status, and later the last frame. */
import { DomainError } from '../../platform/errors/domain-error.ts';
import { declaredError } from '../../platform/http/declared-error.ts';
import { type ErrorBody, errorFrame } from '../../platform/http/error-body.ts';
import { HttpError } from '../../platform/http/errors.ts';
import type { EventStream, Reply } from '../../platform/http/reply/reply.ts';
import { quotaErrors } from '../metering/index.ts';
import { mediaErrors } from './errors.ts';

interface EventReplyOptions {
  path: string;
  errorBody: ErrorBody;
  /** Sends frames, and settles with the work. */
  run(send: (event: object, name?: string) => void): Promise<void>;
}

export async function eventReply({ path, errorBody, run }: EventReplyOptions): Promise<Reply> {
  const waiting: string[] = [];
  let stream: EventStream | undefined;
  const write = (frame: string) => void (stream === undefined ? waiting.push(frame) : stream.write(frame));
  const first = Promise.withResolvers<void>();
  const whole = run((event, name) => {
    write(`${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(event)}\n\n`);
    first.resolve();
  });
  await Promise.race([first.promise, whole]);
  const start = (opened: EventStream) => {
    stream = opened;
    for (const frame of waiting) opened.write(frame);
    void whole.catch((error: unknown) => write(errorFrame(errorBody, frameError(error), path))).finally(() => opened.end());
  };
  return { kind: 'events', headers: {}, start };
}

function frameError(error: unknown): HttpError {
  const known = error instanceof DomainError ? declaredError(error, [...mediaErrors.all, ...quotaErrors]) : undefined;
  return known ?? new HttpError(500, 'internal', 'The work failed.', { cause: error });
}
