/** LISTEN on a connection of its own, which is asked all the time whether it still lives and made anew when not. */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { backoffMs } from '../../backoff.ts';
import type { NotificationHandlers, NotificationListener } from '../notifications.ts';
import { StorageError } from '../storage-error.ts';
import { urlsOfHosts } from './hosts.ts';
import { firstOf, openFirstOf } from './open-client.ts';
import { ANSWER_LIMIT_MS, answerWithin } from './silence.ts';

const CHANNEL = /^[a-z][a-z0-9_]{0,50}$/;
const BEAT_MS = 300;
/** A connection that answers nothing for so long is lost: together with a beat less than a second. */
const BEAT_LIMIT_MS = 600;
/** The database is the node's own: nobody else is spared by a longer wait. */
const RECONNECT = { first: 100, longest: 500 };

export class PostgresListener implements NotificationListener {
  readonly #urls: readonly string[];
  readonly #channel: string;
  readonly #handlers: NotificationHandlers;
  #stopped = new AbortController();
  #running: Promise<void> | undefined;
  #isLive = false;

  constructor(url: string, channel: string, handlers: NotificationHandlers) {
    if (!CHANNEL.test(channel)) throw new Error(`${JSON.stringify(channel)} is no name of a channel`);
    this.#urls = urlsOfHosts(url);
    this.#channel = channel;
    this.#handlers = handlers;
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  start(): void {
    if (this.#running !== undefined) return;
    this.#stopped = new AbortController();
    this.#running = this.#run(this.#stopped.signal);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    this.#running = undefined;
  }

  async #run(stopped: AbortSignal): Promise<void> {
    for (let failures = 0; !stopped.aborted; ) {
      const error = await this.#listen(stopped, () => {
        failures = 0;
      });
      this.#isLive = false;
      if (stopped.aborted) return;
      failures += 1;
      this.#handlers.onLost(error);
      await wait(backoffMs(failures, RECONNECT), undefined, { signal: stopped }).catch(() => undefined);
    }
  }

  /** Resolves with what ended the connection. */
  async #listen(stopped: AbortSignal, onLive: () => void): Promise<unknown> {
    const client = await openFirstOf(
      () =>
        firstOf(
          this.#urls.map(async (url) => await this.#connect(url)),
          destroy,
        ),
      destroy,
    ).catch((error: unknown) => (error instanceof AggregateError ? error.errors[0] : error));
    if (!(client instanceof pg.Client)) return client;
    const ended = new Promise<unknown>((resolve) => {
      client.on('error', resolve);
      client.on('end', () => resolve(new StorageError('storage_unavailable', 'The connection to PostgreSQL was closed.')));
    });
    client.on('notification', ({ payload }) => this.#handlers.onNotification(payload ?? ''));
    try {
      await this.#handlers.onListening();
      this.#isLive = true;
      onLive();
      return await Promise.race([ended, beat(client, stopped)]);
    } catch (error) {
      return error;
    } finally {
      this.#isLive = false;
      // A connection that hangs would not answer the goodbye either.
      await Promise.race([client.end(), wait(BEAT_LIMIT_MS, undefined, { ref: false })]).catch(() => undefined);
      destroy(client);
    }
  }

  /** A standby refuses to listen. */
  async #connect(url: string): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'svc listener',
      keepAlive: true,
      connectionTimeoutMillis: ANSWER_LIMIT_MS,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await answerWithin(BEAT_LIMIT_MS, client.query(`LISTEN ${this.#channel}`));
      return client;
    } catch (error) {
      destroy(client);
      throw error;
    }
  }
}

function destroy(client: pg.Client): void {
  client.connection.stream.destroy();
}

/** Asks until the connection does not answer in time, or until it is not needed any more. */
async function beat(client: pg.Client, stopped: AbortSignal): Promise<unknown> {
  while (!stopped.aborted) {
    await wait(BEAT_MS, undefined, { signal: stopped, ref: false }).catch(() => undefined);
    if (stopped.aborted) break;
    await answerWithin(BEAT_LIMIT_MS, client.query('SELECT 1'));
  }
  return undefined;
}
