/** Turns what a request fails with into the answer of its API: the status, the shape of the body, and what the log says. */
import { DomainError } from '../errors/domain-error.ts';
import type { Log, LogFields } from '../log/log.ts';
import type { StorageError } from '../storage/index.ts';
import { BodyAborted } from './body/body-stream.ts';
import { declaredError } from './declared-error.ts';
import { type ErrorBody, type ErrorBodyPrefix, errorFrame, flatErrorBody, prefixOfPath } from './error-body.ts';
import { HttpError } from './errors.ts';
import type { Route } from './route.ts';
import { isUnusableStorage, unusableStorage } from './router-errors.ts';
import { fieldsOf, type Visit } from './visit.ts';

export class Refusals {
  readonly #errorBodies: readonly ErrorBodyPrefix[];
  readonly #log: Log;

  constructor(errorBodies: readonly ErrorBodyPrefix[], log: Log) {
    this.#errorBodies = errorBodies;
    this.#log = log;
  }

  /** Ends what is open: an event stream with an error frame, an answer without a head with the refusal, all others by a cut. */
  interrupt(visit: Visit, refusal: HttpError): void {
    const { exchange } = visit;
    const shape = this.shapeOf(visit);
    const body = JSON.stringify(shape.write(refusal, exchange.path));
    exchange.interrupt(errorFrame(shape, refusal, exchange.path), {
      status: refusal.status,
      headers: errorHeaders(refusal, visit.route),
      body,
    });
  }

  /** Answers a request that failed. */
  answer(visit: Visit, thrown: unknown): void {
    const { exchange } = visit;
    // A client that went away reads no answer, and that its body broke off is no fault.
    if (exchange.done && (thrown instanceof BodyAborted || thrown instanceof HttpError)) return;
    exchange.dropBody();
    // A service that stops because its client went away says so; nobody reads it.
    if (exchange.done && (thrown instanceof DomainError || isAbort(thrown))) return;
    const error = this.#answerOf(visit, thrown);
    exchange.answer.reply(
      error.status,
      errorHeaders(error, visit.route),
      JSON.stringify(this.shapeOf(visit).write(error, exchange.path)),
    );
  }

  shapeOf({ exchange, route }: Visit): ErrorBody {
    return (route ?? prefixOfPath(this.#errorBodies, exchange.path))?.errorBody ?? flatErrorBody;
  }

  #answerOf(visit: Visit, thrown: unknown): HttpError {
    if (thrown instanceof HttpError) return thrown;
    if (isUnusableStorage(thrown)) return this.#withoutStorage(visit, thrown);
    if (!(thrown instanceof DomainError)) return this.#internal(visit, { error: thrown });
    const declared = declaredError(thrown, visit.route?.errors);
    if (declared === undefined) return this.#internal(visit, { undeclared_code: thrown.code, error: thrown });
    if (declared.status === 500) this.logFault(visit, { error: thrown.cause ?? thrown });
    return declared;
  }

  #withoutStorage(visit: Visit, error: StorageError): HttpError {
    this.#log.warn('a request was refused, since the database does not work', { ...fieldsOf(visit), error });
    return unusableStorage(error);
  }

  #internal(visit: Visit, fields: LogFields): HttpError {
    this.logFault(visit, fields);
    return new HttpError(
      500,
      'internal',
      `Something went wrong on the server. The log has it under request id ${visit.requestId}.`,
    );
  }

  logFault(visit: Visit, fields: LogFields): void {
    this.#log.error('a request failed unexpectedly', { ...fieldsOf(visit), ...fields });
  }
}

function errorHeaders({ status, headers }: HttpError, route: Route | undefined): Record<string, string> {
  const challenge = route?.challenge ?? 'Bearer';
  return { 'content-type': 'application/json', ...(status === 401 && { 'www-authenticate': challenge }), ...headers };
}

export function drainRefusal(): HttpError {
  const detail = 'The server is shutting down; retry on another node or in a moment.';
  return new HttpError(503, 'draining', detail, { headers: { 'retry-after': '5' } });
}

/**
 * The library does not check the bytes after a chunk's data, so behind a proxy that passes chunks on, trailers could become a second
 * request. Clients of the API send a Content-Length; proxies that buffer requests do too.
 */
export function chunkedRefusal(): HttpError {
  const detail = 'The public edge takes no chunked request bodies; send a Content-Length.';
  return new HttpError(411, 'length_required', detail, { extra: { status: 411 } });
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === 'AbortError';
}
