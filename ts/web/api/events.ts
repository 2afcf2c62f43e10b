/** Events of an answer as a page reads them: once a frame of the screen, however fast they come. */
import { readEvents as readEventsOf, type ServerEvent } from '../../client/events.ts';

/** About a frame of the screen: what comes faster is read together. */
const GATHER_MS = 12;

export function readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent[]> {
  return readEventsOf(gather(body));
}

async function* gather(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let readAt = Number.NEGATIVE_INFINITY;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const sinceMs = performance.now() - readAt;
      readAt = performance.now();
      yield value;
      if (sinceMs < GATHER_MS) await new Promise((resolve) => setTimeout(resolve, GATHER_MS - sinceMs));
    }
  } finally {
    // A reader that stops early must not leave the connection open.
    await reader.cancel().catch(() => undefined);
  }
}
