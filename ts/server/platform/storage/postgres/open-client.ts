/** Connections that are opened while the server may be silent. */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { ResolvedStorageOptions } from '../storage-options.ts';
import { clientConfig } from './connection-pool.ts';
import { toStorageError } from './postgres-failure.ts';
import { checkServer } from './server-check.ts';
import { ANSWER_LIMIT_MS, answerWithin, silentServer } from './silence.ts';

/** Between attempts. One that hangs holds up none of those behind it. */
const ATTEMPT_MS = 500;

/** Throws a StorageError unless the server can be reached and suits. */
export async function openClient(options: ResolvedStorageOptions): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(options));
  client.on('error', () => undefined);
  try {
    await client.connect();
    await answerWithin(ANSWER_LIMIT_MS, checkServer(client));
    return client;
  } catch (error) {
    client.connection.stream.destroy();
    throw toStorageError(error);
  }
}

/**
 * The first connection that opens, of attempts that begin one after another for as long as one of them may take. Whatever opens later is
 * closed. Rejects when none has opened by then.
 */
export async function openFirstOf<T>(open: () => Promise<T>, close: (late: T) => void): Promise<T> {
  const over = new AbortController();
  const result: { first?: T; failure?: unknown } = {};
  const attempt = async (): Promise<void> => {
    try {
      const opened = await open();
      if (over.signal.aborted) return close(opened);
      result.first = opened;
      over.abort();
    } catch (error) {
      result.failure ??= error;
    }
  };
  for (let atMs = 0; atMs < ANSWER_LIMIT_MS && !over.signal.aborted; atMs += ATTEMPT_MS) {
    void attempt();
    await wait(ATTEMPT_MS, undefined, { signal: over.signal }).catch(() => undefined);
  }
  over.abort();
  if (result.first !== undefined) return result.first;
  throw result.failure ?? silentServer(ANSWER_LIMIT_MS);
}
