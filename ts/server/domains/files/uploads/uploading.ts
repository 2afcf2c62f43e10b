/** What a database that takes no request now means to a client. */
import { StorageError } from '../../../platform/storage/index.ts';
import { uploadError } from '../errors.ts';

export async function uploading<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof StorageError) || !/^(?:storage_|write_conflict|transaction_timeout)/.test(error.code)) throw error;
    throw uploadError('storage_unavailable', 'The database does not take the request now; retry in a moment.', {
      retryAfterMs: 1000,
      cause: error,
    });
  }
}
