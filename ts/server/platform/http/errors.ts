/** Every refusal of the server: a machine-readable code, a status and a sentence that says what to do. */

import type { ErrorSpec } from '../errors/define-errors.ts';
import type { SchemaFault } from '../schema/schema-check.ts';

export type { ErrorSpec };

export interface HttpErrorOptions {
  headers?: Record<string, string>;
  /** Extra members of the body, for example supported_models. */
  extra?: Record<string, unknown>;
  /** Name of the offending request member, for the `param` of OpenAI-shaped errors. */
  param?: string;
  cause?: unknown;
}

/** Thrown by handlers and services; the router turns it into the body shape of its route. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly code: string;
  readonly headers: Record<string, string>;
  readonly extra: Record<string, unknown>;
  readonly param: string | undefined;

  constructor(status: number, code: string, detail: string, { headers = {}, extra = {}, param, cause }: HttpErrorOptions = {}) {
    // A refusal is an answer, not a defect, and under overload there are many: no stack is walked. `cause` keeps its own.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(detail, { cause });
    Error.stackTraceLimit = limit;
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.extra = extra;
    this.param = param;
  }
}

/** A value of the request that its schema refuses. */
export function invalidRequest({ sentence, member, isUnsupported }: SchemaFault): HttpError {
  const detail = sentence.charAt(0).toUpperCase() + sentence.slice(1);
  return new HttpError(
    400,
    isUnsupported ? 'unsupported_member' : 'invalid_request',
    detail,
    member === '' ? {} : { param: member },
  );
}
