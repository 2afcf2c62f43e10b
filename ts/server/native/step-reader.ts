/**
 * Reads the buffer that the engine sends once per decode step and hands each record to its job's handler.
 *
 * Layout, little endian, written by native/common/step_channel.h: a record is
 * `u32 job, u8 kind, u8 choice, u16 index, u32 length`, then `length` payload bytes, then padding to 4.
 * Text payloads are bodies of JSON strings (escaped UTF-8 without the quotes, whole code points), so that streaming is a copy.
 */
import { NativeError, type NativeErrorCode } from './native-error.ts';

/** The engine has no `content_filter`; providers do. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface JobUsage {
  nPromptTokens: number;
  nCachedTokens: number;
  nCompletionTokens: number;
  queueMs: number;
  prefillMs: number;
  decodeMs: number;
  /** Of speculative decoding: tokens verified, and those that were right. */
  nDraftedTokens: number;
  nAcceptedTokens: number;
  /** Of an answer that was made elsewhere. */
  provider?: ProviderUse;
}

/** What a provider's answer used beside its tokens. */
export interface ProviderUse {
  backend: string;
  /** Of the completion tokens. */
  nReasoningTokens: number;
  /** Of the prompt tokens: those that were written to the provider's cache, for 5 minutes and for an hour. */
  nCacheWrite5mTokens: number;
  nCacheWrite1hTokens: number;
  nAudioTokens: number;
  nImageTokens: number;
  /** Millionths of the currency; undefined: the price is not known. */
  costMicros: number | undefined;
  currency: string;
  /** The provider reported nothing: the figures are ours. */
  isEstimated: boolean;
}

export interface TokenLogprob {
  token: number;
  /** Raw bytes of the token; may be part of a UTF-8 character. Shared: not to be changed. */
  bytes: Buffer;
  logprob: number;
  top: { token: number; bytes: Buffer; logprob: number }[];
}

/** Callbacks run on the JS thread; text buffers are only valid during the call. */
export interface GenerationHandler {
  /** The prompt is rendered, tokenised and admitted; decoding begins. */
  onStart?(nPromptTokens: number, nCachedTokens: number): void;
  onContent(choice: number, jsonBody: Buffer): void;
  onReasoning?(choice: number, jsonBody: Buffer): void;
  onToolCall?(choice: number, index: number, id: string, name: string): void;
  onToolArguments?(choice: number, index: number, jsonBody: Buffer): void;
  /** Comes before the content of the same tokens. */
  onLogprobs?(choice: number, tokens: TokenLogprob[]): void;
  /** stopString is what matched when a stop string ended the choice, else the empty string. */
  onFinish(choice: number, reason: FinishReason, stopString: string): void;
  /** All choices are finished; nothing follows. */
  onDone(usage: JobUsage): void;
  /** The job failed; nothing follows. */
  onError(error: NativeError): void;
  /** Ends a step's records for this job: the moment to write to the socket once. */
  onFlush?(): void;
}

/** Record kinds; the same numbers stand in native/common/step_channel.h. */
export const RecordKind = {
  start: 1,
  content: 2,
  reasoning: 3,
  toolCall: 4,
  toolArguments: 5,
  logprobs: 6,
  finish: 7,
  done: 8,
  error: 9,
} as const;

const headerBytes = 12;
const finishReasons: readonly FinishReason[] = ['stop', 'length', 'tool_calls'];

/** What an engine tells about itself and not about a job. */
export interface EngineEvents {
  /** A handler threw: its job has heard onError, is cancelled and hears nothing more. */
  onFault?: (error: unknown) => void;
  /** The engine goes on, but with less than it was given, such as a cache without its disk. */
  onNotice?: (notice: NativeError) => void;
}

/** The job of records that belong to none. */
const noJob = 0;

export class StepReader {
  /** What jobs end with, instead of `closed`, once their engine is closed. */
  closeReason: NativeError | undefined;
  readonly #handlers = new Map<number, GenerationHandler>();
  /** By job, since a handler that throws at the flush must be found by its job. */
  readonly #touched = new Map<number, GenerationHandler>();
  /** Of tokens that log probabilities named. */
  readonly #tokenBytes = new TokenBytes();
  readonly #events: EngineEvents;
  readonly #cancel: (job: number) => void;

  /** `cancel` ends a job whose handler threw. */
  constructor(cancel: (job: number) => void, events: EngineEvents = {}) {
    this.#cancel = cancel;
    this.#events = events;
  }

  add(job: number, handler: GenerationHandler): void {
    this.#handlers.set(job, handler);
  }

  remove(job: number): void {
    this.#handlers.delete(job);
  }

  read(records: Buffer): void {
    for (let at = 0; at < records.length; ) {
      const job = records.readUInt32LE(at);
      const length = records.readUInt32LE(at + 8);
      const handler = this.#handlers.get(job);
      if (job === noJob) this.#notify(readError(records.subarray(at + headerBytes, at + headerBytes + length)));
      if (handler) {
        this.#touched.set(job, handler);
        try {
          this.#dispatch(job, handler, records, at, length);
        } catch (error) {
          this.#fail(job, handler, error);
        }
      }
      at += headerBytes + ((length + 3) & ~3);
    }
    for (const [job, handler] of this.#touched) this.#flush(job, handler);
    this.#touched.clear();
  }

  #flush(job: number, handler: GenerationHandler): void {
    try {
      handler.onFlush?.();
    } catch (error) {
      this.#fail(job, handler, error);
    }
  }

  /** Whoever listens to the engine itself must not lose the streams' records, which share the buffer. */
  #notify(notice: NativeError): void {
    try {
      this.#events.onNotice?.(notice);
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    try {
      this.#events.onFault?.(error);
    } catch {
      // There is nobody left to tell.
    }
  }

  /** One job's handler must not end the others' streams, which share the buffer. */
  #fail(job: number, handler: GenerationHandler, error: unknown): void {
    this.#handlers.delete(job);
    this.#cancel(job);
    this.#report(error);
    try {
      handler.onError(new NativeError({ code: 'internal', text: 'the answer could not be handed over' }));
    } catch (second) {
      this.#report(second);
    }
  }

  #reasonOf(error: NativeError): NativeError {
    return error.code === 'closed' ? (this.closeReason ?? error) : error;
  }

  #dispatch(job: number, handler: GenerationHandler, records: Buffer, at: number, length: number): void {
    const choice = records.readUInt8(at + 5);
    const index = records.readUInt16LE(at + 6);
    const payload = records.subarray(at + headerBytes, at + headerBytes + length);
    switch (records.readUInt8(at + 4)) {
      case RecordKind.start:
        handler.onStart?.(payload.readUInt32LE(0), payload.readUInt32LE(4));
        return;
      case RecordKind.content:
        handler.onContent(choice, payload);
        return;
      case RecordKind.reasoning:
        handler.onReasoning?.(choice, payload);
        return;
      case RecordKind.toolCall: {
        const idLength = payload.readUInt32LE(0);
        handler.onToolCall?.(choice, index, payload.toString('utf8', 4, 4 + idLength), payload.toString('utf8', 4 + idLength));
        return;
      }
      case RecordKind.toolArguments:
        handler.onToolArguments?.(choice, index, payload);
        return;
      case RecordKind.logprobs:
        handler.onLogprobs?.(choice, this.#readLogprobs(payload));
        return;
      case RecordKind.finish:
        handler.onFinish(choice, finishReasons[index] ?? 'stop', payload.toString());
        return;
      case RecordKind.done:
        this.#handlers.delete(job);
        handler.onDone(readUsage(payload));
        return;
      case RecordKind.error:
        this.#handlers.delete(job);
        handler.onError(this.#reasonOf(readError(payload)));
        return;
    }
  }

  /** Payload: u32 tokens; each token: entry, u32 alternatives, then that many entries. Entry: i32 id, f32 logprob, u32 length, bytes. */
  #readLogprobs(payload: Buffer): TokenLogprob[] {
    let at = 4;
    const entry = () => {
      const token = payload.readInt32LE(at);
      const logprob = payload.readFloatLE(at + 4);
      const length = payload.readUInt32LE(at + 8);
      at += 12 + length;
      return { token, logprob, bytes: this.#tokenBytes.of(token, payload.subarray(at - length, at)) };
    };
    const tokens: TokenLogprob[] = [];
    for (let left = payload.readUInt32LE(0); left > 0; left--) {
      const { token, logprob, bytes } = entry();
      const top: TokenLogprob['top'] = [];
      const nTop = payload.readUInt32LE(at);
      at += 4;
      for (let i = 0; i < nTop; i++) top.push(entry());
      tokens.push({ token, logprob, bytes, top });
    }
    return tokens;
  }
}

function readUsage(payload: Buffer): JobUsage {
  return {
    nPromptTokens: payload.readUInt32LE(0),
    nCachedTokens: payload.readUInt32LE(4),
    nCompletionTokens: payload.readUInt32LE(8),
    queueMs: payload.readFloatLE(12),
    prefillMs: payload.readFloatLE(16),
    decodeMs: payload.readFloatLE(20),
    nDraftedTokens: payload.readUInt32LE(24),
    nAcceptedTokens: payload.readUInt32LE(28),
  };
}

/** Payload: u32 a, u32 b (numbers of the code), u32 code length, code, text. */
function readError(payload: Buffer): NativeError {
  const codeLength = payload.readUInt32LE(8);
  const code = payload.toString('utf8', 12, 12 + codeLength) as NativeErrorCode;
  const text = payload.toString('utf8', 12 + codeLength);
  const details =
    code === 'context_length_exceeded' ? { nPromptTokens: payload.readUInt32LE(0), nCtx: payload.readUInt32LE(4) } : {};
  return new NativeError({ code, text, details });
}

/**
 * The bytes of tokens that came lately, one buffer for each. They lie together in blocks of their own: Node cuts a small buffer from a
 * pool of 8 KiB, all of which stays as long as one of its buffers does.
 */
export class TokenBytes {
  /** More than come again and again; beyond it all are forgotten, whatever the vocabulary has. */
  static readonly mostTokens = 4_096;
  static readonly blockBytes = 16 * 1_024;
  #known = new Map<number, Buffer>();
  /** What is left of the newest block. */
  #free = Buffer.alloc(0);

  /** Those of `token`, which are `bytes`; the result is shared and not to be changed. A special token has text in some jobs only. */
  of(token: number, bytes: Buffer): Buffer {
    const known = this.#known.get(token);
    if (known !== undefined && known.length === bytes.length) return known;
    if (known !== undefined) return Buffer.from(bytes);
    if (this.#known.size === TokenBytes.mostTokens) {
      this.#known = new Map();
      this.#free = Buffer.alloc(0);
    }
    const kept = this.#keep(bytes);
    this.#known.set(token, kept);
    return kept;
  }

  #keep(bytes: Buffer): Buffer {
    if (bytes.length > this.#free.length) this.#free = Buffer.allocUnsafeSlow(Math.max(TokenBytes.blockBytes, bytes.length));
    const kept = this.#free.subarray(0, bytes.length);
    bytes.copy(kept);
    this.#free = this.#free.subarray(bytes.length);
    return kept;
  }
}
