import type { ExecuteStatement } from './statement.ts';
import { StorageError } from './storage-error.ts';

/** The statements of one transaction. Once one has failed, so has the transaction, on either database, even if its caller caught the error. */
interface GuardedStatements {
  readonly execute: ExecuteStatement;
  /** Throws the first failure. */
  check(): void;
  /** Refuses further statements: the transaction is over, or took too long. */
  refuse(error: StorageError): void;
}

export function guardStatements(run: ExecuteStatement): GuardedStatements {
  let failure: unknown;
  const check = () => {
    if (failure !== undefined) throw failure;
  };
  return {
    check,
    refuse: (error) => {
      failure ??= error;
    },
    execute: async (statement) => {
      check();
      try {
        return await run(statement);
      } catch (error) {
        failure ??= error;
        throw error;
      }
    },
  };
}

export const transactionOver = (): StorageError =>
  new StorageError('statement_failed', 'A statement came after its read() or write() had returned.', {
    remedy: 'Await every query inside the callback.',
  });
