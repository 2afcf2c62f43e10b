/** Bytes of a provider's answer -> its frames, whatever the pieces they come in. Everything is bounded: the provider is not trusted. */
import { BrokenFrame, type Kind, type ProviderFrame } from '../kinds/kind.ts';

const MOST_FRAME_CHARACTERS = 8 * 1024 * 1024;

export interface Framing {
  /** Frames that are whole with these bytes. Throws a BrokenFrame. */
  push(bytes: Uint8Array): ProviderFrame[];
}

export function framingOf(framing: Kind['framing'], aws: () => Framing): Framing {
  if (framing === 'aws') return aws();
  return framing === 'sse' ? new EventStream() : new LineStream();
}

/** Whole lines, with whichever of the three ends. The pieces of a line are joined once, since a provider may send it byte by byte. */
class Lines {
  readonly #decoder = new TextDecoder('utf-8');
  #pieces: string[] = [];
  #length = 0;
  #endsWithReturn = false;

  push(bytes: Uint8Array): string[] {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (this.#endsWithReturn && text.startsWith('\n')) text = text.slice(1);
    if (text !== '') this.#endsWithReturn = text.endsWith('\r');
    const lines = text.split(/\r\n|\n|\r/);
    const rest = lines.pop() ?? '';
    if (lines.length > 0) {
      this.#keep(lines[0] ?? '');
      lines[0] = this.#pieces.join('');
      this.#pieces = [];
      this.#length = 0;
    }
    this.#keep(rest);
    return lines;
  }

  #keep(piece: string): void {
    if (piece === '') return;
    this.#length += piece.length;
    if (this.#length > MOST_FRAME_CHARACTERS) throw new BrokenFrame('a line is too long');
    this.#pieces.push(piece);
  }
}

/** Server-sent events (WHATWG HTML, section 9.2.6); comments and ids are passed over. */
class EventStream implements Framing {
  readonly #lines = new Lines();
  #event = '';
  #data: string[] = [];
  #length = 0;

  push(bytes: Uint8Array): ProviderFrame[] {
    const frames: ProviderFrame[] = [];
    for (const line of this.#lines.push(bytes)) this.#line(line, frames);
    return frames;
  }

  #line(line: string, frames: ProviderFrame[]): void {
    if (line === '') {
      if (this.#data.length > 0) frames.push({ event: this.#event, data: this.#data.join('\n') });
      this.#event = '';
      this.#data = [];
      this.#length = 0;
      return;
    }
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'event') this.#event = value;
    if (name !== 'data') return;
    this.#length += value.length;
    if (this.#length > MOST_FRAME_CHARACTERS) throw new BrokenFrame('an event is too long');
    this.#data.push(value);
  }
}

/** A JSON value a line, as Ollama sends them. */
class LineStream implements Framing {
  readonly #lines = new Lines();

  push(bytes: Uint8Array): ProviderFrame[] {
    const lines = this.#lines.push(bytes).filter((line) => line.trim() !== '');
    return lines.map((data) => ({ event: '', data }));
  }
}
