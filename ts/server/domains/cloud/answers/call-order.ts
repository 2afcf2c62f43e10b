/** Calls of one choice, each whole before the next one begins, as sinks want them: providers may send pieces of several in turn. */
import type { CompletionSink } from '../../inference/index.ts';

interface WaitingCall {
  readonly id: string;
  readonly name: string;
  text: string;
}

export class CallOrder {
  readonly #sink: CompletionSink;
  readonly #choice: number;
  #open: { readonly index: number; text: string } | undefined;
  readonly #waiting = new Map<number, WaitingCall>();

  constructor(sink: CompletionSink, choice: number) {
    this.#sink = sink;
    this.#choice = choice;
  }

  begin(index: number, id: string, name: string): void {
    this.#waiting.set(index, { id, name, text: '' });
    if (this.#open === undefined || isWhole(this.#open.text)) this.#next();
  }

  add(index: number, text: string): void {
    const waiting = this.#waiting.get(index);
    if (waiting !== undefined) {
      waiting.text += text;
      return;
    }
    if (this.#open?.index !== index) return;
    this.#open.text += text;
    this.#sink.onToolArguments(this.#choice, index, jsonBody(text));
    if (this.#waiting.size > 0 && isWhole(this.#open.text)) this.#next();
  }

  /** No call gets more. */
  end(): void {
    while (this.#waiting.size > 0) this.#next();
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [index, { id, name, text }] = first;
    this.#waiting.delete(index);
    this.#open = { index, text };
    this.#sink.onToolCall(this.#choice, index, id, name);
    if (text === '') return;
    this.#sink.onToolArguments(this.#choice, index, jsonBody(text));
    if (isWhole(text)) this.#next();
  }
}

/** Arguments are one JSON value. */
function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The body of a JSON string, as the engine's texts are. */
export function jsonBody(text: string): Buffer {
  return Buffer.from(JSON.stringify(text).slice(1, -1));
}
