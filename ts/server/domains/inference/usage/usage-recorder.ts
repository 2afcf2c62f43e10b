/** Records what one piece of work used: times its tokens, counts and meters it once when it is over, and tells who waits for that. */
import type { DomainError } from '../../../platform/errors/domain-error.ts';
import type { OperationMetrics, TokenUsage } from './metrics.ts';

const NOTHING: MeteredTokens = { nPromptTokens: 0, nCachedTokens: 0, nCompletionTokens: 0 };

export class UsageRecorder {
  readonly #metrics: OperationMetrics;
  readonly #startedAt = performance.now();
  #meter: WorkMeter | undefined;
  #recorded: Promise<void> = Promise.resolve();
  #release: (() => void) | undefined;
  #nPromptTokens = 0;
  #nTexts = 0;
  #nTextBytes = 0;
  #used: ((nTextBytes: number) => MeteredTokens | undefined) | undefined;
  /** The tokens of an answer that is over. */
  #nCompletionTokens: number | undefined;
  /** The texts among #nTexts that flushed() has timed. */
  #nTimed = 0;
  #lastTextAt = 0;
  #isOver = false;

  constructor(metrics: OperationMetrics) {
    this.#metrics = metrics;
  }

  /** Sets the meter, before anything is received. Work without a meter is only counted. */
  meterWith(meter: WorkMeter): void {
    this.#meter = meter;
  }

  /** Frees what is held for the work. Called once, however the work ends; at once when it is over already. */
  onEnd(release: () => void): void {
    if (this.#isOver) release();
    else this.#release = release;
  }

  /** Why the work must be ended: a quota is used up, or its use cannot be recorded. */
  get refusal(): DomainError | undefined {
    return this.#meter?.refusal;
  }

  /** Is called when the client may have what it might not before, and when there is a refusal. */
  onChange(callback: () => void): void {
    if (this.#meter !== undefined) this.#meter.onChange = callback;
  }

  /** The engine has admitted the work. */
  started(nPromptTokens: number): void {
    this.#nPromptTokens = nPromptTokens;
    this.#meter?.started(nPromptTokens);
  }

  /** The texts are not tokens: those that are sent are covered by their bytes, and `used` says at the end what they came to. */
  estimateBy(used: ((nTextBytes: number) => MeteredTokens | undefined) | undefined): void {
    this.#used = used;
  }

  /** One record of content, reasoning or arguments. It is called for each token, so it only counts. */
  text(sizeBytes: number): void {
    this.#nTexts++;
    this.#nTextBytes += sizeBytes;
  }

  /** Whether what came so far may be sent: its use is on disk. */
  isCovered(): boolean {
    return this.#meter?.covers(this.#nCompletionTokens ?? (this.#used ? this.#nTextBytes : this.#nTexts)) ?? true;
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
    this.#end(usage);
  }

  /** Also for work that its client gave up, which counts a token for each piece of text. Nothing happens when the work is over. */
  failed(code: string): void {
    if (this.#isOver) return;
    this.#metrics.failed(code);
    const counted = { nPromptTokens: this.#nPromptTokens, nCachedTokens: 0, nCompletionTokens: this.#nTexts };
    this.#end(this.#used === undefined ? counted : (this.#used(this.#nTextBytes) ?? NOTHING));
  }

  /** Resolves when the use of work that is over is on disk. Throws storage_unavailable. */
  whenRecorded(): Promise<void> {
    return this.#recorded;
  }

  #end(usage: MeteredTokens): void {
    this.#isOver = true;
    this.#nCompletionTokens = usage.nCompletionTokens;
    this.#release?.();
    if (this.#meter === undefined) return;
    this.#recorded = this.#meter.end(usage);
    // Whoever waits for it hears of a failure; a client that is gone does not.
    this.#recorded.catch(() => undefined);
  }
}

/** The meter of one piece of work, as metering makes it. */
export type MeteredTokens = Pick<TokenUsage, 'nPromptTokens' | 'nCachedTokens' | 'nCompletionTokens' | 'provider'>;

export interface WorkMeter {
  /** Why the work must be ended. */
  readonly refusal: DomainError | undefined;
  /** Is called when tokens are covered that were not, and when there is a refusal. */
  onChange: () => void;
  started(nPromptTokens: number): void;
  /** Whether a client may have so many tokens of the answer now. */
  covers(nCompletion: number): boolean;
  /** Resolves when what the work used is on disk. */
  end(usage: MeteredTokens): Promise<void>;
}
