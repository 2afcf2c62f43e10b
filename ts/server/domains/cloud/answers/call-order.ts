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
  #open: { readonly index: number; readonly value: JsonEnd } | undefined;
  readonly #waiting = new Map<number, WaitingCall>();

  constructor(sink: CompletionSink, choice: number) {
    this.#sink = sink;
    this.#choice = choice;
  }

  begin(index: number, id: string, name: string): void {
    this.#waiting.set(index, { id, name, text: '' });
    if (this.#open === undefined || this.#open.value.isWhole) this.#next();
  }

  add(index: number, text: string): void {
    const waiting = this.#waiting.get(index);
    if (waiting !== undefined) {
      waiting.text += text;
      return;
    }
    if (this.#open?.index !== index) return;
    this.#open.value.push(text);
    this.#sink.onToolArguments(this.#choice, index, jsonBody(text));
    if (this.#open.value.isWhole) this.#next();
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
    const value = new JsonEnd();
    this.#open = { index, value };
    this.#sink.onToolCall(this.#choice, index, id, name);
    if (text === '') return;
    value.push(text);
    this.#sink.onToolArguments(this.#choice, index, jsonBody(text));
    if (value.isWhole) this.#next();
  }
}

/** Sees where the object of a call's arguments ends, without reading any piece of it twice: providers send it in as many as they like. */
class JsonEnd {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  isWhole = false;

  push(text: string): void {
    for (let i = 0; i < text.length; i++) {
      const character = text[i];
      if (this.#isInString) {
        if (!this.#isEscaped && character === '"') this.#isInString = false;
        this.#isEscaped = !this.#isEscaped && character === '\\';
      } else if (character === '"') this.#isInString = true;
      else if (character === '{' || character === '[') this.#depth++;
      else if (character === '}' || character === ']') this.isWhole = --this.#depth === 0;
    }
  }
}

/** The body of a JSON string, as the engine's texts are. */
export function jsonBody(text: string): Buffer {
  return Buffer.from(JSON.stringify(text).slice(1, -1));
}
