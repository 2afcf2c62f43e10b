/** One chat that a provider answers, between its records and the sink that hears the engine's in the same way. */
import type { JobUsage, ProviderUse } from '../../../native/llama-shapes.ts';
import type { DomainError } from '../../../platform/errors/domain-error.ts';
import { type BackendCompletion, type CompletionSink, inferenceErrors } from '../../inference/index.ts';
import { AttemptFailure } from '../errors.ts';
import { BYTES_PER_TOKEN, type ProviderRecord, type ProviderTokens } from '../kinds/kind.ts';
import type { Opened } from '../routing/attempts.ts';
import { CallOrder, jsonBody } from './call-order.ts';
import type { ProviderAnswer } from './provider-answer.ts';

type UsedTokens = NonNullable<ReturnType<NonNullable<BackendCompletion['used']>>>;

interface CompletionParts {
  readonly sink: CompletionSink;
  /** The model as the client named it. */
  readonly model: string;
  readonly nChoices: number;
  readonly nPromptEstimate: number;
  /** Says what the tokens cost, and in which currency; cost undefined: nobody knows. */
  price(answer: ProviderAnswer, tokens: ProviderTokens): Pick<ProviderUse, 'costMicros' | 'currency'>;
  /** Known once the answer begins. */
  onOpened(opened: Opened<ProviderAnswer>): void;
  /** An answer was cut, or is over. */
  onEnded(answer: ProviderAnswer, outcome: 'ok' | 'cut' | 'cancelled', use: UsedTokens | undefined): void;
  readonly drainMs: number;
}

const MOST_CALLS = 256;
/** It bounds all texts of an answer: what is said, thoughts with their signatures, arguments. docs/admin/cloud.md states it. */
const MOST_TEXT_BYTES = 16 * 1024 * 1024;
/** Tokens of an answer count, and those that could have stood in their place. */
const MOST_LOGPROBS = 1_000_000;

export class CloudCompletion implements BackendCompletion {
  readonly #parts: CompletionParts;
  readonly #controller = new AbortController();
  readonly #startedAt = performance.now();
  #opened: Opened<ProviderAnswer> | undefined;
  #local: BackendCompletion | undefined;
  #openedAt = 0;
  #isOver = false;
  #isPaused = false;
  #resumed: (() => void) | undefined;
  #drained: Promise<void> | undefined;
  #nTextBytes = 0;
  /** It counts what the provider has sent, for choices that nobody asked for too. */
  #nSentBytes = 0;
  #nLogprobs = 0;
  readonly #calls = new Map<number, CallOrder>();
  readonly #finishes = new Map<number, Extract<ProviderRecord, { kind: 'finish' }>>();

  constructor(parts: CompletionParts) {
    this.#parts = parts;
  }

  /** Ends what runs for it, with the error that the client is told. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  expire(): void {
    if (this.#opened === undefined)
      this.#controller.abort(inferenceErrors.error('deadline_exceeded', 'The request ran past the time that it was given.'));
    else this.fail(inferenceErrors.error('deadline_exceeded', 'The request ran past the time that it was given.'));
  }

  /** A model of this node answers in the provider's place. */
  handOver(local: BackendCompletion): void {
    this.#local = local;
    if (this.#isOver) local.cancel();
    else if (this.#isPaused) local.pause();
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#end('cut');
    this.#parts.sink.onError(error);
    this.#parts.sink.onFlush();
  }

  /** Reads the answer to its end. */
  async relay(opened: Opened<ProviderAnswer>): Promise<void> {
    this.#opened = opened;
    this.#openedAt = performance.now();
    if (this.#isOver) return this.#end('cancelled');
    const { sink, nPromptEstimate } = this.#parts;
    this.#parts.onOpened(opened);
    sink.onStart(opened.value.tokens.nPromptTokens || nPromptEstimate, opened.value.tokens.nCacheReadTokens, opened.value.model);
    try {
      for (;;) {
        if (this.#isPaused) await new Promise<void>((resolve) => (this.#resumed = resolve));
        if (this.#isOver) return undefined;
        const records = await opened.value.next();
        if (this.#isOver) return undefined;
        if (records === undefined) return this.#done();
        for (const record of records) this.#tell(record);
        sink.onFlush();
      }
    } catch (error) {
      this.fail(error instanceof AttemptFailure ? cut(error, this.#parts.model) : (error as Error));
    }
  }

  cancel(): void {
    this.#local?.cancel();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#resumed?.();
    const { drainMs } = this.#parts;
    if (drainMs > 0 && this.#opened !== undefined) this.#drained = this.#drain(this.#opened.value, drainMs);
    else this.#end('cancelled');
    this.#controller.abort(inferenceErrors.error('client_closed', 'The client went away.'));
  }

  /** Resolves when a cancelled answer was read to its end for its figures. */
  whenDrained(): Promise<void> | undefined {
    return this.#drained;
  }

  pause(): void {
    this.#isPaused = true;
    this.#local?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#local?.resume();
    this.#resumed?.();
  }

  release(): void {
    this.#local?.release();
  }

  /** By the provider's own figures where it has given all of them, else by the bytes of what was said. */
  used(): UsedTokens | undefined {
    if (this.#local !== undefined) {
      const nCompletionTokens = Math.ceil(this.#nTextBytes / BYTES_PER_TOKEN);
      return { nPromptTokens: this.#parts.nPromptEstimate, nCachedTokens: 0, nCompletionTokens };
    }
    return this.#opened === undefined ? undefined : this.#use(this.#opened.value, this.#opened.value.isWhole);
  }

  #use(answer: ProviderAnswer, isWhole: boolean): UsedTokens {
    const { tokens } = answer;
    const isEstimated = !isWhole || !answer.isReported;
    const estimated = Math.ceil(this.#nTextBytes / BYTES_PER_TOKEN);
    const counted: ProviderTokens = isEstimated
      ? {
          ...tokens,
          nPromptTokens: tokens.nPromptTokens || this.#parts.nPromptEstimate,
          nCompletionTokens: Math.max(tokens.nCompletionTokens, estimated),
        }
      : tokens;
    const provider: ProviderUse = {
      backend: answer.backend.id,
      nReasoningTokens: counted.nReasoningTokens,
      nCacheWrite5mTokens: counted.nCacheWrite5mTokens,
      nCacheWrite1hTokens: counted.nCacheWrite1hTokens,
      nAudioTokens: counted.nAudioTokens,
      nImageTokens: counted.nImageTokens,
      isEstimated,
      ...this.#parts.price(answer, counted),
    };
    const { nPromptTokens, nCompletionTokens, nCacheReadTokens: nCachedTokens } = counted;
    return { nPromptTokens, nCachedTokens, nCompletionTokens, provider };
  }

  async #drain(answer: ProviderAnswer, ms: number): Promise<void> {
    const late = setTimeout(() => answer.close(), ms);
    try {
      while ((await answer.next()) !== undefined);
    } catch {
      // What it has reported until then counts.
    } finally {
      clearTimeout(late);
      this.#end('cancelled');
    }
  }

  #end(outcome: 'ok' | 'cut' | 'cancelled'): void {
    const opened = this.#opened;
    if (opened === undefined) return;
    opened.value.close();
    opened.release();
    this.#parts.onEnded(opened.value, outcome, this.used());
  }

  #tell(record: ProviderRecord): void {
    const { sink, nChoices } = this.#parts;
    this.#limit(record);
    if ('choice' in record && record.choice >= nChoices) return;
    switch (record.kind) {
      case 'content':
        sink.onContent(record.choice, this.#bodyOf(record.text));
        return;
      case 'reasoning':
        sink.onReasoning(record.choice, this.#bodyOf(record.text));
        return;
      case 'detail':
        sink.onReasoningDetail(record.choice, record.detail);
        return;
      case 'call':
        this.#callsOf(record.choice).begin(record.index, record.id.slice(0, 256), record.name.slice(0, 256));
        return;
      case 'arguments':
        this.#nTextBytes += Buffer.byteLength(record.text);
        this.#callsOf(record.choice).add(record.index, record.text);
        return;
      case 'logprobs':
        sink.onLogprobs(record.choice, record.tokens);
        return;
      case 'finish':
        // Told once the provider has said that the answer is whole.
        this.#finishes.set(record.choice, record);
        return;
      default:
        break;
    }
  }

  /** A provider that never ends would fill the memory: whoever reads a whole answer holds it until its end. */
  #limit(record: ProviderRecord): void {
    const { model } = this.#parts;
    if ('index' in record && record.index >= MOST_CALLS) throw tooMuch(`makes more than ${MOST_CALLS} calls`, model);
    if (record.kind === 'logprobs') this.#nLogprobs += record.tokens.reduce((sum, { top }) => sum + 1 + top.length, 0);
    if (this.#nLogprobs > MOST_LOGPROBS) throw tooMuch(`sends more than ${MOST_LOGPROBS} log probabilities`, model);
    this.#nSentBytes += bytesOf(record);
    if (this.#nSentBytes > MOST_TEXT_BYTES) throw tooMuch(`says more than ${MOST_TEXT_BYTES / 2 ** 20} MiB`, model);
  }

  #done(): void {
    const { sink, nChoices } = this.#parts;
    const opened = this.#opened as Opened<ProviderAnswer>;
    for (let choice = 0; choice < nChoices; choice++)
      if (!this.#finishes.has(choice))
        throw new AttemptFailure({ meaning: 'passing', status: 0, sentence: 'a choice was not finished' });
    this.#isOver = true;
    for (const calls of this.#calls.values()) calls.end();
    for (const { choice, reason, stopString = '' } of this.#finishes.values()) sink.onFinish(choice, reason, stopString);
    const used = this.#use(opened.value, true);
    const now = performance.now();
    const usage: JobUsage = {
      ...used,
      queueMs: 0,
      prefillMs: this.#openedAt - this.#startedAt,
      decodeMs: now - this.#openedAt,
      nDraftedTokens: 0,
      nAcceptedTokens: 0,
    } as JobUsage;
    opened.release();
    this.#parts.onEnded(opened.value, 'ok', used);
    sink.onDone(usage);
    sink.onFlush();
  }

  /** The body of a JSON string, as the engine's texts are. */
  #bodyOf(text: string): Buffer {
    this.#nTextBytes += Buffer.byteLength(text);
    return jsonBody(text);
  }

  #callsOf(choice: number): CallOrder {
    let calls = this.#calls.get(choice);
    if (calls === undefined) {
      calls = new CallOrder(this.#parts.sink, choice);
      this.#calls.set(choice, calls);
    }
    return calls;
  }
}

function cut({ refusal, cause }: AttemptFailure, model: string): DomainError {
  const sentence = `The provider of ${model} ended the answer before it was whole: ${refusal.sentence}`;
  return inferenceErrors.error('provider_stream_cut', sentence, {
    cause,
    ...(refusal.status > 0 && { extra: { provider_status: refusal.status } }),
  });
}

function bytesOf(record: ProviderRecord): number {
  if ('text' in record) return Buffer.byteLength(record.text);
  if (record.kind !== 'detail') return 0;
  const { text = '', signature = '', data = '' } = record.detail;
  return Buffer.byteLength(text) + Buffer.byteLength(signature) + Buffer.byteLength(data);
}

function tooMuch(what: string, model: string): DomainError {
  return inferenceErrors.error('provider_stream_cut', `The provider of ${model} ${what} in one answer, so the answer was ended.`);
}
