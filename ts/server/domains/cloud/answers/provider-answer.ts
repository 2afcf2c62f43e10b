/** One answer of a provider while it comes: opened once it says something, then read record by record. Each wait has its limit. */
import { HttpClientError } from '../../../platform/network/http-client-error.ts';
import type { HttpResponse } from '../../../platform/network/http-response.ts';
import { AttemptFailure, passing } from '../errors.ts';
import type { ChatCall } from '../kinds/chat-call.ts';
import {
  BrokenFrame,
  type FrameReader,
  NO_TOKENS,
  type ProviderRecord,
  type ProviderRequest,
  type ProviderTokens,
} from '../kinds/kind.ts';
import { limitReset, refusalOf } from '../kinds/refusal.ts';
import type { LiveBackend } from '../registry/live-backend.ts';
import { AwsFrames } from './aws-frames.ts';
import { type Framing, framingOf } from './framing.ts';

const MOST_REFUSAL_BYTES = 64 * 1024;
/** All bytes of an answer count: log probabilities take a hundred times as many as the text. */
const MOST_ANSWER_BYTES = 256 * 1024 * 1024;
/** Frames count that say nothing by themselves, such as the pieces of a signature, which readers hold until it is whole. */
const MOST_SILENT_CHARACTERS = 16 * 1024 * 1024;
/** Records count that come before the first content. */
const MOST_HELD_RECORDS = 1_024;
/** For the end of the body behind the last event, so that the connection can be used again. */
const TAIL_MS = 1_000;

export class ProviderAnswer {
  readonly backend: LiveBackend;
  /** Of the request: what the backend's own name of the model is. */
  readonly model: string;
  /** Later figures replace earlier ones. */
  readonly tokens: ProviderTokens = { ...NO_TOKENS };
  /** Whether the provider has reported anything, a zero included. */
  isReported = false;
  readonly #controller = new AbortController();
  readonly #unlink: () => void;
  readonly #reader: FrameReader;
  readonly #framing: Framing;
  #chunks: AsyncIterator<Buffer> | undefined;
  #response: HttpResponse | undefined;
  #held: ProviderRecord[] = [];
  #nBytes = 0;
  #nSilent = 0;
  #hasEnded = false;
  #timer: NodeJS.Timeout | undefined;

  private constructor(backend: LiveBackend, call: ChatCall, signal: AbortSignal) {
    this.backend = backend;
    this.model = call.model;
    this.#reader = backend.kind.reader(call);
    this.#framing = framingOf(backend.kind.framing, () => new AwsFrames());
    const stop = (): void => this.#controller.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    this.#unlink = () => signal.removeEventListener('abort', stop);
  }

  /** Whether the provider has ended it as it should. */
  get isWhole(): boolean {
    return this.#hasEnded;
  }

  /** Resolves when there is content. Rejects with an AttemptFailure, or the signal's reason. */
  static async open(
    backend: LiveBackend,
    call: ChatCall,
    signal: AbortSignal,
    request?: ProviderRequest,
  ): Promise<ProviderAnswer> {
    const answer = new ProviderAnswer(backend, call, signal);
    try {
      await answer.#open(request ?? backend.kind.chat(call, backend.facts.options));
      return answer;
    } catch (error) {
      const failure = answer.#failureOf(error);
      answer.close();
      throw failure;
    }
  }

  /** Undefined: the provider has said that the answer is whole. Rejects with an AttemptFailure for one that is not. */
  async next(): Promise<ProviderRecord[] | undefined> {
    if (this.#held.length > 0) return this.#held.splice(0);
    if (this.#hasEnded) return undefined;
    this.#limit(this.backend.facts.options.timeouts.idle_ms, 'nothing more came');
    try {
      return await this.#read();
    } catch (error) {
      const failure = this.#failureOf(error);
      this.close();
      throw failure;
    } finally {
      clearTimeout(this.#timer);
    }
  }

  /** Closes the connection, unless the answer is whole: nothing else stops a provider. */
  close(): void {
    clearTimeout(this.#timer);
    this.#unlink();
    if (!this.#hasEnded) this.#controller.abort(new Error('nobody reads the answer'));
    if (!this.#hasEnded) this.#response?.discard();
  }

  async #open(request: ProviderRequest): Promise<void> {
    const { options } = this.backend.facts;
    this.#limit(options.timeouts.first_byte_ms, 'nothing was said');
    const response = await this.backend.send(request, this.#controller.signal);
    this.#response = response;
    if (!response.isOk) throw new AttemptFailure(refusalOf(response.status, response.headers, await readRefusal(response)));
    const resetMs = limitReset(response.headers);
    if (resetMs !== undefined) this.backend.pace.block(resetMs);
    requireStream(response);
    this.#chunks = response.chunks()[Symbol.asyncIterator]();
    for (let isBegun = false; !isBegun; ) {
      if (this.#hasEnded) {
        if (isEmptyByRight(this.#held, this.tokens)) break;
        throw passing('the answer is empty');
      }
      const records = await this.#read();
      isBegun = hasContent(records);
      // Figures are noted as they come.
      this.#held.push(...records.filter(({ kind }) => kind !== 'usage'));
      if (!isBegun && this.#held.length > MOST_HELD_RECORDS) throw passing('it sends much, and says nothing');
    }
    clearTimeout(this.#timer);
  }

  /** The next frames that are whole. */
  async #read(): Promise<ProviderRecord[]> {
    for (;;) {
      const { value, done } = (await this.#chunks?.next()) ?? { value: undefined, done: true };
      if (done) throw passing('the stream ended before the answer was whole');
      this.#nBytes += value.length;
      if (this.#nBytes > MOST_ANSWER_BYTES) throw passing('the answer is too large');
      const records: ProviderRecord[] = [];
      for (const frame of this.#framing.push(value)) {
        const read = this.#reader.push(frame);
        if (read.length === 0) this.#nSilent += frame.data.length;
        if (this.#nSilent > MOST_SILENT_CHARACTERS) throw passing('it sends much, and says nothing');
        records.push(...read);
        if (read.some(({ kind }) => kind === 'end')) break;
      }
      this.#note(records);
      if (records.length > 0) return records;
    }
  }

  #note(records: readonly ProviderRecord[]): void {
    for (const record of records) {
      if (record.kind === 'refused') throw new AttemptFailure(record.refusal);
      if (record.kind === 'usage') {
        Object.assign(this.tokens, record.tokens);
        this.isReported = true;
      }
      if (record.kind === 'end') {
        this.#hasEnded = true;
        this.#unlink();
        void this.#readTail();
      }
    }
  }

  async #readTail(): Promise<void> {
    const late = setTimeout(() => this.#response?.discard(), TAIL_MS);
    try {
      for (;;) if ((await this.#chunks?.next())?.done !== false) break;
    } catch {
      // What comes behind the end is nobody's.
    } finally {
      clearTimeout(late);
    }
  }

  #limit(ms: number, what: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#controller.abort(passing(`${what} for ${ms / 1000} s`));
      this.#response?.discard();
    }, ms);
  }

  #failureOf(error: unknown): unknown {
    const { signal } = this.#controller;
    const cause = signal.aborted && signal.reason instanceof AttemptFailure ? signal.reason : error;
    return attemptFailure(cause, this.backend, signal);
  }
}

/** Errors of connections become failures of the attempt; what ended it from outside stays what it is. */
export function attemptFailure(error: unknown, backend: LiveBackend, signal: AbortSignal): unknown {
  if (error instanceof AttemptFailure) return new AttemptFailure(backend.scrub(error.refusal), error.cause);
  if (signal.aborted) return signal.reason;
  if (error instanceof BrokenFrame) return passing(`it sends what cannot be read: ${error.message}`, error);
  if (error instanceof HttpClientError) return passing(error.message, error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'unsafe_address') return passing((error as Error).message, error);
  if (typeof code === 'string') return passing(`the connection failed: ${code}`, error);
  return error;
}

/** Empty where it is too long, or ends early. */
export async function readRefusal(response: HttpResponse): Promise<string> {
  try {
    return (await response.bytes(MOST_REFUSAL_BYTES)).toString();
  } catch {
    response.discard();
    return '';
  }
}

/** A proxy's page, and a body that was not streamed, are no answers. */
function requireStream(response: HttpResponse): void {
  const type = response.header('content-type') ?? '';
  if (/^text\/html/i.test(type) || /^application\/json\b/i.test(type)) {
    response.discard();
    throw passing(`it answers with ${type.slice(0, 60)} and no stream`);
  }
}

function hasContent(records: readonly ProviderRecord[]): boolean {
  return records.some(({ kind }) => ['content', 'reasoning', 'detail', 'call', 'arguments'].includes(kind));
}

/** An answer that used up its tokens on hidden thoughts, or was held back, is one. */
function isEmptyByRight(records: readonly ProviderRecord[], { nCompletionTokens }: ProviderTokens): boolean {
  const finish = records.find((record) => record.kind === 'finish');
  return finish?.kind === 'finish' && (finish.reason !== 'stop' || nCompletionTokens > 0);
}
