/** Hands the events of a stream on, with the citations of its text checked: what does not hold is never sent. */
import type { FinishReason, JobUsage, TokenLogprob } from '../../../native/llama-shapes.ts';
import type { HttpError } from '../../../platform/http/errors.ts';
import type { ReasoningDetail } from '../../inference/index.ts';
import type { Frames, StreamEncoder } from '../answer/frames.ts';
import type { ToolEvent } from '../tools/tool-event.ts';
import { type AnswerFilters, endedByItself } from './answer-filters.ts';

export class FilteringEncoder implements StreamEncoder {
  readonly #inner: StreamEncoder;
  readonly #filters: AnswerFilters;
  /** Choices that have said something, and those that have called a tool. */
  readonly #spoken = new Set<number>();
  readonly #calling = new Set<number>();

  /** @param filters the inner encoder asks the same ones which citations hold. */
  constructor(inner: StreamEncoder, filters: AnswerFilters) {
    this.#inner = inner;
    this.#filters = filters;
  }

  open(out: Frames, nPromptTokens: number, model?: string): void {
    this.#inner.open(out, nPromptTokens, model);
  }

  content(out: Frames, choice: number, jsonBody: Buffer): void {
    this.#spoken.add(choice);
    const text = JSON.parse(`"${jsonBody.toString()}"`) as string;
    const passed = this.#filters.of(choice).push(text);
    if (passed === text) this.#inner.content(out, choice, jsonBody);
    else this.#send(out, choice, passed);
  }

  reasoning(out: Frames, choice: number, jsonBody: Buffer): void {
    this.#release(out, choice);
    this.#inner.reasoning(out, choice, jsonBody);
  }

  reasoningDetail(out: Frames, choice: number, detail: ReasoningDetail): void {
    this.#inner.reasoningDetail(out, choice, detail);
  }

  toolCall(out: Frames, choice: number, index: number, id: string, name: string): void {
    this.#calling.add(choice);
    this.#release(out, choice);
    this.#inner.toolCall(out, choice, index, id, name);
  }

  toolArguments(out: Frames, choice: number, index: number, jsonBody: Buffer): void {
    this.#inner.toolArguments(out, choice, index, jsonBody);
  }

  logprobs(out: Frames, choice: number, tokens: TokenLogprob[]): void {
    this.#inner.logprobs(out, choice, tokens);
  }

  toolEvent(out: Frames, event: ToolEvent): void {
    this.#inner.toolEvent?.(out, event);
  }

  finish(out: Frames, choice: number, reason: FinishReason, stopString: string): void {
    const isCalling = this.#calling.has(choice);
    if (!isCalling) this.#spoken.add(choice);
    if (!isCalling && endedByItself({ finish: reason, stopString })) this.#send(out, choice, this.#filters.of(choice).conclude());
    else this.#release(out, choice);
    this.#inner.finish(out, choice, reason, stopString);
  }

  done(out: Frames, usage: JobUsage): void {
    this.#inner.done(out, usage);
  }

  error(out: Frames, error: HttpError): void {
    for (const choice of this.#filters.choices) this.#release(out, choice);
    this.#inner.error(out, error);
  }

  #release(out: Frames, choice: number): void {
    if (!this.#spoken.has(choice)) return;
    this.#send(out, choice, this.#filters.of(choice).end());
  }

  #send(out: Frames, choice: number, text: string): void {
    if (text !== '') this.#inner.content(out, choice, Buffer.from(JSON.stringify(text).slice(1, -1)));
  }
}
