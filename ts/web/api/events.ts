/** Server-sent events of an answer, as the WHATWG's HTML standard (section 9.2.6) reads them; `data` and `id` matter here. */

/** About a frame of the screen: what comes faster is read together. */
const GATHER_MS = 12;

export interface ServerEvent {
  /** Absent where the server gives none. */
  id?: string;
  data: string;
}

/** All that came at once are yielded together: an answer of many small events waits for no turn of the event loop between them. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent[]> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let readAt = Number.NEGATIVE_INFINITY;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const sinceMs = performance.now() - readAt;
      readAt = performance.now();
      rest += decoder.decode(value, { stream: !done });
      const blocks = rest.split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? '';
      const events = blocks.flatMap((block) => eventOf(block) ?? []);
      if (events.length > 0) yield events;
      if (done) return;
      if (sinceMs < GATHER_MS) await new Promise((resolve) => setTimeout(resolve, GATHER_MS - sinceMs));
    }
  } finally {
    // A reader that stops early must not leave the connection open.
    await reader.cancel().catch(() => undefined);
  }
}

function eventOf(block: string): ServerEvent | undefined {
  const lines = block.split(/\r?\n/);
  const data = valuesOf(lines, 'data:');
  if (data.length === 0) return undefined;
  const id = valuesOf(lines, 'id:').at(-1);
  return { data: data.join('\n'), ...(id === undefined ? {} : { id }) };
}

function valuesOf(lines: readonly string[], field: string): string[] {
  return lines.filter((line) => line.startsWith(field)).map((line) => line.slice(field.length).replace(/^ /, ''));
}
