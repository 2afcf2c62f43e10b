/** A connection that is asked all the time whether the server still answers: a statement alone may be slow, or the server silent. */
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { StorageError } from '../storage-error.ts';
import { ANSWER_LIMIT_MS, answerWithin } from './silence.ts';

const BEAT_MS = 500;

/** At most one of them is called, once, and none after `stop()`. */
interface PulseEvents {
  /** The server answers nothing. */
  onSilent(error: StorageError): void;
  /** This connection ended, which says nothing of others: an administrator or a proxy may have closed it. */
  onEnded(): void;
}

export class Pulse {
  readonly #client: pg.Client;
  readonly #on: PulseEvents;
  readonly #stopped = new AbortController();

  /** `client` is connected, and the pulse's from now on. */
  constructor(client: pg.Client, on: PulseEvents) {
    this.#client = client;
    this.#on = on;
    void this.#beat();
  }

  stop(): void {
    this.#stopped.abort();
    this.#client.connection.stream.destroy();
  }

  async #beat(): Promise<void> {
    const { signal } = this.#stopped;
    try {
      for (;;) {
        await wait(BEAT_MS, undefined, { signal, ref: false });
        await answerWithin(ANSWER_LIMIT_MS, this.#client.query('SELECT 1'));
      }
    } catch (error) {
      if (signal.aborted) return;
      this.stop();
      if (error instanceof StorageError) this.#on.onSilent(error);
      else this.#on.onEnded();
    }
  }
}
