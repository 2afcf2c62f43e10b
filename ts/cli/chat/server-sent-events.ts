/** The data of each event of a stream: https://html.spec.whatwg.org/multipage/server-sent-events.html, the parts that chat uses. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const parser = new EventParser();
  for await (const chunk of body) yield* parser.push(decoder.decode(chunk, { stream: true }));
  yield* parser.end();
}

class EventParser {
  #rest = '';
  #data: string[] = [];

  push(text: string): string[] {
    this.#rest += text;
    // A carriage return at the end may be half of CR LF: it waits for the next piece.
    const end = this.#rest.endsWith('\r') ? this.#rest.length - 1 : this.#rest.length;
    const lines = this.#rest.slice(0, end).split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? '') + this.#rest.slice(end);
    return lines.flatMap((line) => this.#take(line));
  }

  /** A last event without its empty line is not delivered; a last carriage return was a whole line ending after all. */
  end(): string[] {
    return this.#rest.endsWith('\r') ? this.#take(this.#rest.slice(0, -1)) : [];
  }

  #take(line: string): string[] {
    if (line.startsWith('data:')) this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
    if (line !== '' || this.#data.length === 0) return [];
    const event = this.#data.join('\n');
    this.#data = [];
    return [event];
  }
}
