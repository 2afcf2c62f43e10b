/** The thread's end of the line to the JS thread. */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { ThreadEvent } from './thread-messages.ts';

export class ThreadPort<Request> {
  readonly #port: MessagePort;
  #outbox: ThreadEvent[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
  }

  /** Calls back with the first batch of a wake-up; what arrived meanwhile is fetched with `take()`. */
  onBatch(handle: (batch: Request[]) => void): void {
    this.#port.on('message', handle);
  }

  /** What has arrived since, without waiting. */
  take(): Request[] {
    const requests: Request[] = [];
    for (;;) {
      const received = receiveMessageOnPort(this.#port) as { message: Request[] } | undefined;
      if (!received) return requests;
      for (const request of received.message) requests.push(request);
    }
  }

  send(event: ThreadEvent): void {
    this.#outbox.push(event);
  }

  /** Sends all events since the last flush as one message. */
  flush(): void {
    if (this.#outbox.length === 0) return;
    this.#port.postMessage(this.#outbox);
    this.#outbox = [];
  }

  close(): void {
    this.flush();
    this.#port.close();
  }
}
