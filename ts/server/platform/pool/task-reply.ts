/** What crosses between the pool and its threads. */

export interface TaskMessage {
  /** The URL of the task's file. */
  file: string;
  input: unknown;
  /** The thread writes its id here as it starts, so that the pool knows which thread to watch. */
  threadId: Int32Array;
}

export type TaskReply = { ok: true; value: unknown } | { ok: false; message: string; code?: string; stack?: string };
