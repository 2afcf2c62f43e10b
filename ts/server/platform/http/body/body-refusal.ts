/** A refusal as plain data, since errors lose their class between threads. */
import { DomainError } from '../../errors/domain-error.ts';
import { HttpError } from '../errors.ts';

export interface BodyRefusal {
  /** Absent for a DomainError, whose status the route declares. */
  status?: number;
  code: string;
  message: string;
  param: string | undefined;
  extra: Record<string, unknown>;
}

/** Undefined for an error that is no refusal. Its cause stays behind. */
export function refusalOf(error: unknown): BodyRefusal | undefined {
  if (!(error instanceof HttpError || error instanceof DomainError)) return undefined;
  const { code, message, param, extra } = error;
  return { code, message, param, extra, ...(error instanceof HttpError ? { status: error.status } : {}) };
}

export function errorOf({ status, code, message, param, extra }: BodyRefusal): HttpError | DomainError {
  const options = { extra, ...(param === undefined ? {} : { param }) };
  return status === undefined ? new DomainError(code, message, options) : new HttpError(status, code, message, options);
}
