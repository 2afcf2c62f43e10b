/**
 * Meters one request. What may be sent to its client is on disk before, in coarse steps: when the process is killed, the record is ahead of what the client
 * received, and never behind. All but the end is synchronous and costs a comparison for each step of the model.
 */
import { randomUUID } from 'node:crypto';
import type { ProviderUse } from '../../../native/llama-shapes.ts';
import type { DomainError } from '../../../platform/errors/domain-error.ts';
import { meteringError } from '../errors.ts';
import type { QuotaHold } from '../limits/quota-hold.ts';
import type { UsageKey } from '../tables.ts';
import type { UsageJournal } from './usage-journal.ts';

interface UsedTokens {
  nPromptTokens: number;
  nCachedTokens: number;
  nCompletionTokens: number;
  /** Of work that was done elsewhere. */
  provider?: ProviderUse | undefined;
  /** The length of a recording. */
  audioMs?: number;
  /** The length of a text that is read aloud. */
  characters?: number;
}

interface RequestMeterOptions {
  key: UsageKey;
  journal: UsageJournal;
  /** Undefined: no quota counts it. */
  hold: QuotaHold | undefined;
  /** Whether parts of the answer reach the client before its end. */
  isStreamed: boolean;
  /** It counts as a request, and has no tokens. */
  hasNoTokens: true | undefined;
  nPromptEstimate: number;
  /** Most completion tokens; undefined: the client sets no limit. */
  nMost: number | undefined;
  /** Millionths that so many tokens cost; undefined: nothing, or nobody knows. */
  costOf: CostOf | undefined;
  /** Unix milliseconds. */
  now(): number;
}

export type CostOf = (nPromptTokens: number, nCompletionTokens: number) => number | undefined;

/** Completion tokens that are written beforehand; the next ones when half of them are used. */
const STEP_TOKENS = 256;
/** What a chat template adds to the estimate of a prompt. */
const TEMPLATE_TOKENS = 64;
/** What is held of the quotas at once, beyond what was expected. */
const HOLD_TOKENS = 64;

export class RequestMeter {
  readonly #options: RequestMeterOptions;
  readonly #id = randomUUID();
  readonly #startedAt: number;
  /** Is called when tokens are covered that were not, and when they never will be. */
  onChange: () => void = () => {};
  #nPrompt = 0;
  /** On disk. */
  #covered = { nPrompt: -1, nCompletion: -1 };
  /** On disk, or on the way there. */
  #asked: { nPrompt: number; nCompletion: number };
  #wasOpened = false;
  #isOver = false;
  #isRecorded = false;
  #refusal: DomainError | undefined;

  constructor(options: RequestMeterOptions) {
    this.#options = options;
    this.#startedAt = options.now();
    const nCompletion = Math.min(options.nMost ?? STEP_TOKENS, STEP_TOKENS);
    this.#asked = options.hasNoTokens
      ? { nPrompt: 0, nCompletion: 0 }
      : { nPrompt: options.nPromptEstimate + TEMPLATE_TOKENS, nCompletion };
    if (options.isStreamed) this.#open();
  }

  /** Why the request must end: a quota is used up, or nothing can be recorded. */
  get refusal(): DomainError | undefined {
    return this.#refusal;
  }

  /** The model has taken the prompt. */
  started(nPromptTokens: number): void {
    this.#nPrompt = nPromptTokens;
    this.#options.hold?.release(Math.max(0, this.#options.nPromptEstimate - nPromptTokens));
    if (nPromptTokens > this.#asked.nPrompt) this.#extend(nPromptTokens, this.#asked.nCompletion);
    this.#holdFor(0);
  }

  /** Whether a client may have so many tokens of the answer now; if not, `onChange` tells when. */
  covers(nCompletion: number): boolean {
    if (this.#isRecorded) return true;
    this.#holdFor(nCompletion);
    if (this.#wasOpened && !this.#isOver) this.#coverAhead(nCompletion);
    return this.#covered.nPrompt >= this.#nPrompt && this.#covered.nCompletion >= nCompletion;
  }

  /** The request is over. Resolves when its use is on disk; throws storage_unavailable. One that did nothing is not recorded. */
  async end({ nPromptTokens, nCachedTokens, nCompletionTokens, provider, audioMs, characters }: UsedTokens): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#nPrompt = nPromptTokens;
    const { hold, journal, key, hasNoTokens, now } = this.#options;
    if (hasNoTokens) hold?.endWithoutTokens();
    else hold?.end(nPromptTokens, nCompletionTokens, provider?.costMicros ?? 0);
    const nTokens = nPromptTokens + nCompletionTokens;
    if (nTokens === 0 && !hasNoTokens && !this.#wasOpened && (audioMs ?? 0) + (characters ?? 0) === 0) return;
    const ended = {
      ...key,
      id: this.#id,
      wasOpened: this.#wasOpened,
      hasNoTokens,
      startedAt: this.#startedAt,
      endedAt: now(),
      promptTokens: nPromptTokens,
      cachedTokens: nCachedTokens,
      completionTokens: nCompletionTokens,
      provider,
      audioMs,
      characters,
    };
    try {
      await journal.end(ended);
      this.#isRecorded = true;
      this.onChange();
    } catch (error) {
      this.#fail(error);
      throw this.#refusal;
    }
  }

  /** Whoever knows their limit has all of it held from the start. */
  #holdFor(nCompletion: number): void {
    const { hold, nMost, costOf } = this.#options;
    if (hold === undefined || this.#isOver || this.#refusal !== undefined) return;
    const needed = this.#nPrompt + Math.max(nMost ?? 0, nCompletion);
    if (needed <= hold.heldTokens) return;
    const ahead = nMost === undefined ? HOLD_TOKENS : 0;
    this.#refusal = hold.extend(needed + ahead, costOf?.(this.#nPrompt, needed + ahead - this.#nPrompt));
  }

  #coverAhead(nCompletion: number): void {
    if (nCompletion + STEP_TOKENS / 2 <= this.#asked.nCompletion) return;
    const most = this.#options.nMost ?? Number.POSITIVE_INFINITY;
    const next = Math.max(nCompletion, Math.min(most, nCompletion + STEP_TOKENS));
    if (next > this.#asked.nCompletion) this.#extend(this.#asked.nPrompt, next);
  }

  #open(): void {
    const { key, journal } = this.#options;
    this.#wasOpened = true;
    const { nPrompt, nCompletion } = this.#asked;
    const times = { started_at: this.#startedAt, touched_at: this.#startedAt };
    const row = { ...key, id: this.#id, ...times, prompt_tokens: nPrompt, completion_tokens: nCompletion };
    this.#await(journal.open(row), nPrompt, nCompletion);
  }

  #extend(nPrompt: number, nCompletion: number): void {
    this.#asked = { nPrompt, nCompletion };
    if (!this.#wasOpened) return;
    const extension = { id: this.#id, promptTokens: nPrompt, completionTokens: nCompletion, touchedAt: this.#options.now() };
    this.#await(this.#options.journal.extend(extension), nPrompt, nCompletion);
  }

  #await(written: Promise<void>, nPrompt: number, nCompletion: number): void {
    written.then(
      () => {
        this.#covered = { nPrompt, nCompletion };
        this.onChange();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #fail(cause: unknown): void {
    const sentence = 'What is used cannot be recorded now, so nothing is answered; try again.';
    this.#refusal ??= meteringError('storage_unavailable', sentence, { cause, retryAfterMs: 1000 });
    this.onChange();
  }
}
