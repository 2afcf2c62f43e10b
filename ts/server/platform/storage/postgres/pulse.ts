/** A connection that is asked all the time whether the server still answers: a statement alone may be slow, or the server silent. */
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { StorageError } from '../storage-error.ts';
import { ANSWER_LIMIT_MS, answerWithin } from './silence.ts';

const BEAT_MS = 500;
/** A backend that does nothing for so long has sent its answer. Ended, it holds no lock that the next attempt would wait for. */
const END_IDLE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND usename = current_user
  AND state <> 'active' AND state_change < clock_timestamp() - interval '1 second'`;

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

  /** Ends a backend that does nothing, though its client waits for an answer: what passed between them is lost. False: it works. */
  async endIdle(backend: number): Promise<boolean> {
    return ((await this.#client.query(END_IDLE, [backend])).rowCount ?? 0) > 0;
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
