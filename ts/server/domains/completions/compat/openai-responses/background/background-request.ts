/** What the job of a background response needs beside the input, as it is kept until the response has ended. */

import type { Principal } from '../../../../../platform/http/principal.ts';
import type { ModelUser } from '../../../../inference/index.ts';
import type { ResponsesRequest } from '../schema.ts';

/** What the request was allowed, for a job that runs without it. */
export interface BackgroundLimits extends ModelUser {
  timeoutMs?: number;
  /** For whom it is metered. */
  user?: string | undefined;
  key?: string | undefined;
  /** Who asks, for a response that searches or reads files. */
  caller?: Principal | undefined;
}

export interface BackgroundRequest extends BackgroundLimits {
  /** As the client sent it, without `input`: that is kept as items. */
  body: Omit<ResponsesRequest, 'input'>;
}

export function backgroundRequest(
  { input: _, ...body }: ResponsesRequest,
  { timeoutMs, models, user, key, caller }: BackgroundLimits,
): BackgroundRequest {
  return {
    ...{ body, user, key, caller },
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(models !== undefined && { models }),
  };
}
