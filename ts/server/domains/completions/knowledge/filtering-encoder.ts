/** Hands the events of a stream on, with the citations of its text checked: what does not hold is never sent. */
import type { FinishReason } from '../../../native/llama-shapes.ts';
import type { HttpError } from '../../../platform/http/errors.ts';
import type { Frames, StreamEncoder } from '../answer/frames.ts';
import { PassingEncoder } from '../answer/passing-encoder.ts';
import { type AnswerFilters, endedByItself } from './answer-filters.ts';

export class FilteringEncoder extends PassingEncoder {
  readonly #filters: AnswerFilters;
  /** Choices that have said something, and those that have called a tool. */
  readonly #spoken = new Set<number>();
  readonly #calling = new Set<number>();

  /** @param filters the inner encoder asks the same ones which citations hold. */
  constructor(inner: StreamEncoder, filters: AnswerFilters) {
    super(inner);
    this.#filters = filters;
  }

  override content(out: Frames, choice: number, jsonBody: Buffer): void {
    this.#spoken.add(choice);
    const text = JSON.parse(`"${jsonBody.toString()}"`) as string;
    const passed = this.#filters.of(choice).push(text);
    if (passed === text) this.inner.content(out, choice, jsonBody);
    else this.#send(out, choice, passed);
  }

  override reasoning(out: Frames, choice: number, jsonBody: Buffer): void {
    this.#release(out, choice);
    this.inner.reasoning(out, choice, jsonBody);
  }

  override toolCall(out: Frames, choice: number, index: number, id: string, name: string): void {
    this.#calling.add(choice);
    this.#release(out, choice);
    this.inner.toolCall(out, choice, index, id, name);
  }

  override finish(out: Frames, choice: number, reason: FinishReason, stopString: string): void {
    const isCalling = this.#calling.has(choice);
    if (!isCalling) this.#spoken.add(choice);
    if (!isCalling && endedByItself({ finish: reason, stopString })) this.#send(out, choice, this.#filters.of(choice).conclude());
    else this.#release(out, choice);
    this.inner.finish(out, choice, reason, stopString);
  }

  override error(out: Frames, error: HttpError): void {
    for (const choice of this.#filters.choices) this.#release(out, choice);
    this.inner.error(out, error);
  }

  #release(out: Frames, choice: number): void {
    if (!this.#spoken.has(choice)) return;
    this.#send(out, choice, this.#filters.of(choice).end());
  }

  #send(out: Frames, choice: number, text: string): void {
    if (text !== '') this.inner.content(out, choice, Buffer.from(JSON.stringify(text).slice(1, -1)));
  }
}
