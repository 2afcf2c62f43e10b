/** Failures of the database, and clients that went away, as refusals of this module. */
import { StorageError } from '../../platform/storage/index.ts';
import { dataError } from './errors.ts';

export async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StorageError && /^(storage_|write_conflict|transaction_timeout)/.test(error.code))
      throw dataError('storage_unavailable', 'The database does not take the request now; retry in a moment.', {
        retryAfterMs: 1_000,
        cause: error,
      });
    if (error instanceof DOMException && error.name === 'AbortError')
      throw dataError('client_closed', 'The client went away.', { cause: error });
    throw error;
  }
}
