/** A job's progress as server-sent events. */
import type { EventStream } from '../../http/route.ts';
import { hasEnded, type Job } from '../index.ts';
import { viewOf } from './job-view.ts';

/** The id of the last event: a client that reconnects with it has seen the job's end. */
export const END_EVENT_ID = 'end';

/** Sends the newest state; a client that reads slowly misses what lies between. */
export class JobEvents {
  #stream: EventStream | undefined;
  #newest: Job | undefined;
  #isBlocked = false;
  #nSent = 0;

  take(job: Job): void {
    this.#newest = job;
    this.#send();
  }

  open(stream: EventStream): void {
    this.#stream = stream;
    stream.onDrain(() => {
      this.#isBlocked = false;
      this.#send();
    });
    this.#send();
  }

  #send(): void {
    const job = this.#newest;
    const stream = this.#stream;
    if (job === undefined || stream === undefined || this.#isBlocked) return;
    this.#newest = undefined;
    this.#nSent += 1;
    const id = hasEnded(job) ? END_EVENT_ID : String(this.#nSent);
    this.#isBlocked = !stream.write(`id: ${id}\nevent: job\ndata: ${JSON.stringify(viewOf(job))}\n\n`);
    if (hasEnded(job)) stream.end();
  }
}
