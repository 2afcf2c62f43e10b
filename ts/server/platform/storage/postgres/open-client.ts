/** Connections that are opened while the server may be silent. */
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { StorageError } from '../storage-error.ts';
import type { ResolvedStorageOptions } from '../storage-options.ts';
import { newClient } from './connection-pool.ts';
import { hostOf, urlsOfHosts } from './hosts.ts';
import { toStorageError } from './postgres-failure.ts';
import { checkServer } from './server-check.ts';
import { ANSWER_LIMIT_MS, answerWithin, silentServer } from './silence.ts';

/** Between attempts. One that hangs holds up none of those behind it. */
const ATTEMPT_MS = 500;

export interface OpenServer {
  client: pg.Client;
  /** The URL of this one server. */
  url: string;
}

/** The server that takes writes, of those that the URL names. Throws a StorageError unless one can be reached and suits. */
export async function openWriter(options: ResolvedStorageOptions): Promise<OpenServer> {
  const urls = urlsOfHosts(options.url);
  const attempts = urls.map(async (url) => ({ client: await openClient({ ...options, url }), url }));
  try {
    return await firstOf(attempts, ({ client }) => client.connection.stream.destroy());
  } catch (error) {
    throw refusalOfAll(urls, (error as AggregateError).errors as StorageError[]);
  }
}

/** The first that succeeds; `close` ends what comes later. Rejects with an AggregateError of all failures. */
export async function firstOf<T>(attempts: readonly Promise<T>[], close: (late: T) => void): Promise<T> {
  const first = await Promise.any(attempts);
  for (const attempt of attempts) void attempt.then((late) => late === first || close(late)).catch(() => undefined);
  return first;
}

function refusalOfAll(urls: readonly string[], errors: readonly StorageError[]): StorageError {
  // What an operator has to change comes before what may pass by itself.
  const [first, ...others] = errors.toSorted((a, b) => Number(isUnavailable(a)) - Number(isUnavailable(b)));
  if (first === undefined || others.length === 0 || !isUnavailable(first)) return first ?? silentServer(ANSWER_LIMIT_MS);
  const reasons = errors.map(({ message }, i) => `${hostOf(urls[i] ?? '')}: ${message}`).join(' ');
  return new StorageError('storage_unavailable', `None of the ${urls.length} servers of database.url takes writes. ${reasons}`, {
    remedy: 'The server goes on by itself once one of them does. See which of them should be the primary.',
    cause: first,
  });
}

function isUnavailable({ code }: StorageError): boolean {
  return code === 'storage_unavailable';
}

async function openClient(options: ResolvedStorageOptions): Promise<pg.Client> {
  const client = newClient(options);
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
