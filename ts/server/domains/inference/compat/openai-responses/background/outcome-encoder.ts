/** The events of a background response except the last, whose outcome is kept instead: the last one is written from what is stored. */
import type { JobUsage } from '../../../../../native/llama-shapes.ts';
import type { HttpError } from '../../../../../platform/http/errors.ts';
import type { Frames } from '../../../completion/frames.ts';
import { type InferenceError, inferenceError, isInferenceErrorCode } from '../../../errors.ts';
import type { ResponseEnd } from '../../../kept-responses/kept-response.ts';
import { ResponsesEncoder } from '../event-encoder.ts';

export class OutcomeEncoder extends ResponsesEncoder {
  /** Set when the last choice has ended or failed. */
  outcome: ResponseEnd | InferenceError | undefined;

  override done(_out: Frames, usage: JobUsage): void {
    this.outcome = this.end(usage);
  }

  override error(_out: Frames, error: HttpError): void {
    this.outcome = inferenceError(isInferenceErrorCode(error.code) ? error.code : 'internal', error.message);
  }
}
