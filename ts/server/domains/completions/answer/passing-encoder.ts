/** Hands every event of a stream on: what a stage makes of a stream says only what it changes. */
import type { FinishReason, JobUsage, TokenLogprob } from '../../../native/llama-shapes.ts';
import type { HttpError } from '../../../platform/http/errors.ts';
import type { ReasoningDetail } from '../../inference/index.ts';
import type { ToolEvent } from '../tools/tool-event.ts';
import type { Frames, StreamEncoder } from './frames.ts';

export class PassingEncoder implements StreamEncoder {
  protected readonly inner: StreamEncoder;

  constructor(inner: StreamEncoder) {
    this.inner = inner;
  }

  open(out: Frames, nPromptTokens: number, model?: string): void {
    this.inner.open(out, nPromptTokens, model);
  }

  content(out: Frames, choice: number, jsonBody: Buffer): void {
    this.inner.content(out, choice, jsonBody);
  }

  reasoning(out: Frames, choice: number, jsonBody: Buffer): void {
    this.inner.reasoning(out, choice, jsonBody);
  }

  reasoningDetail(out: Frames, choice: number, detail: ReasoningDetail): void {
    this.inner.reasoningDetail(out, choice, detail);
  }

  toolCall(out: Frames, choice: number, index: number, id: string, name: string): void {
    this.inner.toolCall(out, choice, index, id, name);
  }

  toolArguments(out: Frames, choice: number, index: number, jsonBody: Buffer): void {
    this.inner.toolArguments(out, choice, index, jsonBody);
  }

  logprobs(out: Frames, choice: number, tokens: TokenLogprob[]): void {
    this.inner.logprobs(out, choice, tokens);
  }

  toolEvent(out: Frames, event: ToolEvent): void {
    this.inner.toolEvent?.(out, event);
  }

  finish(out: Frames, choice: number, reason: FinishReason, stopString: string): void {
    this.inner.finish(out, choice, reason, stopString);
  }

  done(out: Frames, usage: JobUsage): void {
    this.inner.done(out, usage);
  }

  error(out: Frames, error: HttpError): void {
    this.inner.error(out, error);
  }
}
