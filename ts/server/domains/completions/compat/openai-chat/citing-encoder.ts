/** Chat chunks whose last one of each choice carries the citations of its answer. */
import type { FinishReason, JobUsage, TokenLogprob } from '../../../../native/llama-shapes.ts';
import type { HttpError } from '../../../../platform/http/errors.ts';
import type { Frames } from '../../answer/frames.ts';
import type { StreamEncoder } from '../../answer/stream-encoder.ts';
import type { ChunkEncoder } from './chunk-encoder.ts';
import type { WireCitations } from './citations.ts';

export class CitingEncoder implements StreamEncoder {
  readonly #inner: ChunkEncoder;
  readonly #citedBy: (choice: number) => WireCitations;
  readonly #members: object;

  /** @param members what the last chunk of each choice has beside its citations. */
  constructor(inner: ChunkEncoder, citedBy: (choice: number) => WireCitations, members: object = {}) {
    this.#inner = inner;
    this.#citedBy = citedBy;
    this.#members = members;
  }

  open(out: Frames): void {
    this.#inner.open(out);
  }

  content(out: Frames, choice: number, jsonBody: Buffer): void {
    this.#inner.content(out, choice, jsonBody);
  }

  reasoning(out: Frames, choice: number, jsonBody: Buffer): void {
    this.#inner.reasoning(out, choice, jsonBody);
  }

  toolCall(out: Frames, choice: number, index: number, id: string, name: string): void {
    this.#inner.toolCall(out, choice, index, id, name);
  }

  toolArguments(out: Frames, choice: number, index: number, jsonBody: Buffer): void {
    this.#inner.toolArguments(out, choice, index, jsonBody);
  }

  logprobs(out: Frames, choice: number, tokens: TokenLogprob[]): void {
    this.#inner.logprobs(out, choice, tokens);
  }

  finish(out: Frames, choice: number, reason: FinishReason): void {
    const { citations, annotations } = this.#citedBy(choice);
    this.#inner.finish(out, choice, reason, { delta: { annotations }, members: { citations, ...this.#members } });
  }

  done(out: Frames, usage: JobUsage): void {
    this.#inner.done(out, usage);
  }

  error(out: Frames, error: HttpError): void {
    this.#inner.error(out, error);
  }
}
