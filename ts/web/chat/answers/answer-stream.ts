/** The events of one answer, over as many connections as it takes: a connection that breaks is made anew behind the last event. */

import { Refusal } from '../../../client/refusal.ts';
import { request } from '../../api/call.ts';
import { readEvents } from '../../api/events.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** Counted from the break of a connection; the server keeps an answer that nobody reads for about as long. */
const GIVE_UP_MS = 5 * 60_000;

interface AnswerStreamOptions {
  /** The id of the stream at the server; undefined: it cannot be resumed. */
  id: string | undefined;
  /** Undefined: to be resumed from the beginning. */
  response: Response | undefined;
  signal: AbortSignal;
}

/** Yields the data of events before the end, all that came at once together. Throws Refusal: `unreachable` where the connection broke for good. */
export async function* readAnswer({ id, response, signal }: AnswerStreamOptions): AsyncGenerator<string[]> {
  let last = '0';
  let next = response ?? (await reconnect(id ?? '', last, signal));
  while (next !== undefined) {
    try {
      if (next.body === null) throw Refusal.unreachable(undefined);
      for await (const events of readEvents(next.body)) {
        const end = events.findIndex(({ data }) => data === '[DONE]');
        const wanted = end === -1 ? events : events.slice(0, end);
        if (wanted.length > 0) yield wanted.map(({ data }) => data);
        if (end !== -1) return;
        last = wanted.findLast(({ id }) => id !== undefined)?.id ?? last;
      }
    } catch (error) {
      if (signal.aborted || error instanceof Refusal) throw error;
    }
    if (signal.aborted) throw signal.reason;
    if (id === undefined) throw Refusal.unreachable(undefined);
    next = await reconnect(id, last, signal);
  }
}

/** Undefined: nothing comes behind that event. */
async function reconnect(id: string, last: string, signal: AbortSignal): Promise<Response | undefined> {
  const brokeAt = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      const headers = { 'last-event-id': last };
      const response = await request('GET /api/v1/edge/conversations/streams/{id}', { params: { id }, headers, signal });
      return response.status === 204 ? undefined : response;
    } catch (error) {
      if (signal.aborted || !mayRecover(error) || performance.now() - brokeAt > GIVE_UP_MS) throw error;
    }
    // Many pages that lost the same server do not come back at one moment.
    await pause(pauseMs * (0.5 + Math.random()), signal);
  }
}

/** The server is away, or busy with its start or end. */
function mayRecover(error: unknown): boolean {
  return error instanceof Refusal && (error.status === 0 || error.status === 429 || error.status >= 500);
}

/** Ends early when the browser is back online. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    addEventListener('online', end);
    signal.addEventListener('abort', end);
  });
}
