/** The answer of any route while the database does not work. */
import { StorageError } from '../storage/index.ts';
import { HttpError } from './errors.ts';
import { routerErrors } from './router-errors.ts';

/** The other codes are mistakes of this program, or refusals that a service translates. */
const UNUSABLE = /^(storage_|write_conflict$|transaction_timeout$)/;

/** Whether the database does not work now: that is no defect of the server, and the same request may succeed shortly. */
export function isUnusableStorage(error: unknown): error is StorageError {
  return error instanceof StorageError && UNUSABLE.test(error.code);
}

/** Makes the answer of any route. The database's own words are for the log: they name files and servers. */
export function unusableStorage(cause: StorageError): HttpError {
  const detail =
    cause.outcome === 'unknown'
      ? 'The database stopped working while this was written, so it may be there or not: look before you retry.'
      : 'The database does not take the request now; nothing was changed. Retry in a moment.';
  const code = 'storage_unavailable';
  return new HttpError(routerErrors.statusOf(code), code, detail, { headers: { 'retry-after': '1' }, cause });
}
