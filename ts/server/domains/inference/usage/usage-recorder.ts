/** Records what one piece of work used: times its tokens, counts it once when it is over, and tells who waits for that. */
import type { InferenceErrorCode } from '../errors.ts';
import type { OperationMetrics, TokenUsage } from './metrics.ts';

/** Gets the tokens that were used; of work that was cut off, a token for each piece of text that came. */
type EndCallback = (nPromptTokens: number, nCompletionTokens: number) => void;

export class UsageRecorder {
  readonly #metrics: OperationMetrics;
  readonly #startedAt = performance.now();
  readonly #onEnd: EndCallback[] = [];
  #nPromptTokens = 0;
  #nTexts = 0;
  /** Of #nTexts, those that flushed() has timed. */
  #nTimed = 0;
  #lastTextAt = 0;
  #isOver = false;

  constructor(metrics: OperationMetrics) {
    this.#metrics = metrics;
  }

  /** Frees what is held for the work. Called once, however the work ends; at once when it is over already. */
  onEnd(callback: EndCallback): void {
    if (this.#isOver) callback(0, 0);
    else this.#onEnd.push(callback);
  }

  /** The engine has admitted the work. */
  started(nPromptTokens: number): void {
    this.#nPromptTokens = nPromptTokens;
  }

  /** One record of content, reasoning or arguments. It is called for each token, so it only counts. */
  text(): void {
    this.#nTexts++;
  }

  /** The records of one decode step are with the client. */
  flushed(): void {
    if (this.#nTexts === this.#nTimed) return;
    this.#nTimed = this.#nTexts;
    const now = performance.now();
    if (this.#lastTextAt === 0) this.#metrics.firstToken((now - this.#startedAt) / 1000);
    else this.#metrics.interToken((now - this.#lastTextAt) / 1000);
    this.#lastTextAt = now;
  }

  completed(usage: TokenUsage): void {
    if (this.#isOver) return;
    this.#metrics.completed(usage);
    this.#end(usage.nPromptTokens, usage.nCompletionTokens);
  }

  /** Also for work that its client gave up. Nothing happens when the work is over. */
  failed(code: InferenceErrorCode): void {
    if (this.#isOver) return;
    this.#metrics.failed(code);
    this.#end(this.#nPromptTokens, this.#nTexts);
  }

  #end(nPromptTokens: number, nCompletionTokens: number): void {
    this.#isOver = true;
    for (const callback of this.#onEnd.splice(0)) callback(nPromptTokens, nCompletionTokens);
  }
}
