/** How an answer becomes server-sent events: an encoder for each API, which writes into frames. */
import type { FinishReason, JobUsage, TokenLogprob } from '../../../native/llama-shapes.ts';
import type { HttpError } from '../../../platform/http/errors.ts';
import type { ReasoningDetail } from '../../inference/index.ts';
import type { ToolEvent } from '../tools/tool-event.ts';

/** Spells a stream of tokens as the events of one foreign API. */
export interface StreamEncoder {
  /**
   * The events before any token. nPromptTokens is 0 when the stream opens before the engine has counted them. `model` is what answers, where
   * that has another name than the model that was chosen.
   */
  open(out: Frames, nPromptTokens: number, model?: string): void;
  content(out: Frames, choice: number, jsonBody: Buffer): void;
  reasoning(out: Frames, choice: number, jsonBody: Buffer): void;
  /** A block of thoughts that is whole. */
  reasoningDetail(out: Frames, choice: number, detail: ReasoningDetail): void;
  toolCall(out: Frames, choice: number, index: number, id: string, name: string): void;
  toolArguments(out: Frames, choice: number, index: number, jsonBody: Buffer): void;
  logprobs(out: Frames, choice: number, tokens: TokenLogprob[]): void;
  /** One of the node's own tools; APIs that have no place for it leave it out. */
  toolEvent?(out: Frames, event: ToolEvent): void;
  finish(out: Frames, choice: number, reason: FinishReason, stopString: string): void;
  done(out: Frames, usage: JobUsage): void;
  error(out: Frames, error: HttpError): void;
}

/** Outgoing bytes of one stream, gathered over a decode step so that the socket is written once. */
export class Frames {
  #bytes: Buffer = none;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(bytes: Buffer): void {
    this.#reserve(bytes.length);
    bytes.copy(this.#bytes, this.#length);
    this.#length += bytes.length;
  }

  pushText(text: string): void {
    this.#reserve(Buffer.byteLength(text));
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** Returns what was gathered, which is valid until the next push. The gathering starts again. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }

  /** Lets go of the memory that is not in use: the next push may be minutes away. */
  release(): void {
    if (this.#length === 0) this.#bytes = none;
  }

  #reserve(nBytes: number): void {
    if (this.#length + nBytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + nBytes, leastBytes));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

const none = Buffer.alloc(0);
/** Room for one chunk. */
const leastBytes = 512;
