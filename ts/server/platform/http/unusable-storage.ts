/** What any route answers while the database does not work: it is no defect of the server, and the same request may succeed shortly. */
import { StorageError } from '../storage/index.ts';
import { type ErrorSpec, HttpError } from './errors.ts';

export const UNUSABLE_STORAGE: ErrorSpec = {
  status: 503,
  code: 'storage_unavailable',
  meaning: 'The database cannot be read or written now; retry after the time in Retry-After.',
};

/** The other codes are mistakes of this program, or refusals that a service translates. */
const UNUSABLE = /^(storage_|write_conflict$|transaction_timeout$)/;

export function isUnusableStorage(error: unknown): error is StorageError {
  return error instanceof StorageError && UNUSABLE.test(error.code);
}

/** The database's own words are for the log: they name files and servers. */
export function unusableStorage(cause: StorageError): HttpError {
  const detail =
    cause.outcome === 'unknown'
      ? 'The database stopped working while this was written, so it may be there or not: look before you retry.'
      : 'The database does not take the request now; nothing was changed. Retry in a moment.';
  return new HttpError(UNUSABLE_STORAGE.status, UNUSABLE_STORAGE.code, detail, { headers: { 'retry-after': '1' }, cause });
}
