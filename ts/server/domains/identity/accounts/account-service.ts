/** Signing up and in, and resets, name what does not answer as the interface does: the accounts, whatever keeps them. */
import { isUnusableStorage } from '../../../platform/http/router-errors.ts';
import { identityError } from '../errors.ts';

/** Throws `account_service_unreachable` where the work fails because the database does not work. */
export async function withAccounts<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!isUnusableStorage(error)) throw error;
    const detail = 'Accounts cannot be read or written now, because the database does not work; retry shortly.';
    throw identityError('account_service_unreachable', detail, { cause: error, retryAfterMs: 1000 });
  });
}
