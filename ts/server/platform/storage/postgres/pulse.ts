/** A connection that is asked all the time whether the server still answers: a statement alone may be slow, or the server silent. */
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { StorageError } from '../storage-error.ts';
import { toStorageError } from './postgres-failure.ts';
import { ANSWER_LIMIT_MS, answerWithin } from './silence.ts';

const BEAT_MS = 500;

export class Pulse {
  readonly #client: pg.Client;
  readonly #onLost: (error: StorageError) => void;
  readonly #stopped = new AbortController();

  /** `client` is connected, and the pulse's from now on. `onLost` is called once, unless it is stopped before. */
  constructor(client: pg.Client, onLost: (error: StorageError) => void) {
    this.#client = client;
    this.#onLost = onLost;
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
      this.#onLost(toStorageError(error));
    }
  }
}
