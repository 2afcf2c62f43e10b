/** The progress of a pull: the bytes of all its files together. */
import type { JobProgress } from '../../../platform/jobs/index.ts';

export class PullProgress {
  readonly #report: (progress: JobProgress) => void;
  readonly #received = new Map<string, number>();
  #newest: JobProgress = { done: 0, unit: 'bytes' };

  constructor(report: (progress: JobProgress) => void) {
    this.#report = report;
  }

  update(file: string, { receivedBytes, totalBytes }: { receivedBytes: number; totalBytes?: number }): void {
    this.#received.set(file, receivedBytes);
    const done = [...this.#received.values()].reduce((sum, bytes) => sum + bytes, 0);
    // How long the parts of a split model are together is not known before the last one.
    const isOnly = this.#received.size === 1 && !/-\d{5}-of-\d{5}\./.test(file);
    this.#send({ done, unit: 'bytes', message: file, ...(isOnly && totalBytes !== undefined && { total: totalBytes }) });
  }

  /** A sentence for a person: resumed, retried, started again. */
  note(message: string): void {
    this.#send({ ...this.#newest, message });
  }

  #send(progress: JobProgress): void {
    this.#newest = progress;
    this.#report(progress);
  }
}
