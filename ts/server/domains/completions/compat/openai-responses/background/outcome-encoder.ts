/** The events of a background response except the last, whose outcome is kept instead: the last one is written from what is stored. */

import type { JobUsage } from '../../../../../native/llama-shapes.ts';
import { DomainError } from '../../../../../platform/errors/domain-error.ts';
import type { HttpError } from '../../../../../platform/http/errors.ts';
import type { Frames } from '../../../answer/frames.ts';
import type { CompletionError } from '../../../errors.ts';
import { isKnownCode } from '../../../failure.ts';
import type { ResponseEnd } from '../../../stored-responses/kept-response.ts';
import { ResponsesEncoder } from '../event-encoder.ts';

export class OutcomeEncoder extends ResponsesEncoder {
  /** Set when the last choice has ended or failed. */
  outcome: ResponseEnd | CompletionError | undefined;

  override done(_out: Frames, usage: JobUsage): void {
    this.outcome = this.end(usage);
  }

  override error(_out: Frames, error: HttpError): void {
    this.outcome = new DomainError(isKnownCode(error.code) ? error.code : 'internal', error.message);
  }
}
