/** Why a task has no result. */

/**
 * `pool_full`: as many tasks wait as may. `pool_closed`: the server stops. `task_timeout`, `task_out_of_memory`: the task exceeded its
 * limit and was ended. `task_failed`: its thread ended without an answer.
 */
export type PoolErrorCode = 'pool_full' | 'pool_closed' | 'task_timeout' | 'task_out_of_memory' | 'task_failed';

export class PoolError extends Error {
  override readonly name = 'PoolError';
  readonly code: PoolErrorCode;

  constructor(code: PoolErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The task itself threw. Message and code are the thrown error's; its stack stays in the log. */
export class TaskError extends Error {
  override readonly name = 'TaskError';
  /** `task_failed` where the thrown error had no code. */
  readonly code: string;

  constructor(message: string, code = 'task_failed') {
    super(message);
    this.code = code;
  }
}
