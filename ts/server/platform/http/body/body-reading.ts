/** A route's translation of its checked body, on the event loop or in a worker thread with the same result. */
import type { TaskSpec } from '../../pool/task-spec.ts';
import type { ReadBodyTask } from './read-body-task.ts';

export interface BodyReading<B, R> {
  /** Pure: it depends on nothing but its arguments, and throws HttpError or DomainError. `sizeBytes` is that of the whole body. */
  read(body: B, sizeBytes: number): R;
  thread: ThreadReading;
}

/** Names the task of worker threads that reads large bodies. */
export interface ThreadReading {
  task: TaskSpec<ReadBodyTask>;
  /** The name of the task's reader. */
  reader: string;
}
