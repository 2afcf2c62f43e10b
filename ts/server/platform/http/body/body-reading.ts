/** What a route makes of its checked body, on the event loop or in a worker thread with the same result. */
import type { TaskSpec } from '../../pool/task-spec.ts';
import type { ReadBodyTask } from './read-body-task.ts';

export interface BodyReading<B, R> {
  /** Pure: it depends on nothing but its arguments, and throws HttpError or DomainError. `sizeBytes` is that of the whole body. */
  read(body: B, sizeBytes: number): R;
  thread: ThreadReading;
}

/** Where large bodies are read. */
export interface ThreadReading {
  task: TaskSpec<ReadBodyTask>;
  /** Which of the task's readers it is. */
  reader: string;
}
