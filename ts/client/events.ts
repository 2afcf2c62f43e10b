/** Server-sent events of an answer, as the WHATWG's HTML standard (section 9.2.6) reads them; `data` and `id` matter here. */

export interface ServerEvent {
  /** Absent where the server gives none. */
  id?: string;
  data: string;
}

/** Yields all events that end in one piece of the body together, so that none of them waits for a turn of the event loop. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent[]> {
  const decoder = new TextDecoder();
  const parser = new EventParser();
  for await (const piece of body) {
    const events = parser.push(decoder.decode(piece, { stream: true }));
    if (events.length > 0) yield events;
  }
  const last = parser.end();
  if (last.length > 0) yield last;
}

class EventParser {
  #rest = '';
  #data: string[] = [];
  #id: string | undefined;

  push(text: string): ServerEvent[] {
    this.#rest += text;
    // A carriage return at the end may be half of CR LF: it waits for the next piece.
    const end = this.#rest.endsWith('\r') ? this.#rest.length - 1 : this.#rest.length;
    const lines = this.#rest.slice(0, end).split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? '') + this.#rest.slice(end);
    return lines.flatMap((line) => this.#take(line));
  }

  /** A last event without its empty line is not delivered; a last carriage return was a whole line ending after all. */
  end(): ServerEvent[] {
    return this.#rest.endsWith('\r') ? this.#take(this.#rest.slice(0, -1)) : [];
  }

  #take(line: string): ServerEvent[] {
    if (line.startsWith('data:')) this.#data.push(textBehind(line, 5));
    if (line.startsWith('id:')) this.#id = textBehind(line, 3);
    return line === '' ? this.#dispatch() : [];
  }

  #dispatch(): ServerEvent[] {
    const [data, id] = [this.#data, this.#id];
    this.#data = [];
    this.#id = undefined;
    return data.length === 0 ? [] : [{ data: data.join('\n'), ...(id !== undefined && { id }) }];
  }
}

function textBehind(line: string, start: number): string {
  return line.slice(line[start] === ' ' ? start + 1 : start);
}
