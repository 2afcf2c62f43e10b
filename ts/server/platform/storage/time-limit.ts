import { StorageError } from './storage-error.ts';

/** Settles like `work`, or rejects with `transaction_timeout` after `limitMs`; what runs on must then be refused by its caller. */
export async function withinTimeLimit<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(timeoutError(limitMs)), limitMs);
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function timeoutError(limitMs: number): StorageError {
  return new StorageError('transaction_timeout', `A transaction took longer than ${limitMs} ms and was rolled back.`, {
    remedy: 'Do nothing but query inside read() and write(), and cut long work into several transactions.',
  });
}
