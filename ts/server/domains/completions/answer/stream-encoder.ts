/** How one foreign API spells a stream of tokens as server-sent events. */
import type { FinishReason, JobUsage, TokenLogprob } from '../../../native/llama-shapes.ts';
import type { HttpError } from '../../../platform/http/errors.ts';
import type { Frames } from './frames.ts';

export interface StreamEncoder {
  /** The events before any token. nPromptTokens is 0 when the stream opens before the engine has counted them. */
  open(out: Frames, nPromptTokens: number): void;
  content(out: Frames, choice: number, jsonBody: Buffer): void;
  reasoning(out: Frames, choice: number, jsonBody: Buffer): void;
  toolCall(out: Frames, choice: number, index: number, id: string, name: string): void;
  toolArguments(out: Frames, choice: number, index: number, jsonBody: Buffer): void;
  logprobs(out: Frames, choice: number, tokens: TokenLogprob[]): void;
  finish(out: Frames, choice: number, reason: FinishReason, stopString: string): void;
  done(out: Frames, usage: JobUsage): void;
  error(out: Frames, error: HttpError): void;
}
