/** What the job of a background response needs beside the input, as it is kept until the response has ended. */
import type { CallOptions } from '../../../backend.ts';
import type { ResponsesRequest } from '../schema.ts';

export interface BackgroundRequest {
  /** As the client sent it, without `input`: that is kept as items. */
  body: Omit<ResponsesRequest, 'input'>;
  timeoutMs?: number;
}

export function backgroundRequest({ input: _, ...body }: ResponsesRequest, { timeoutMs }: CallOptions): BackgroundRequest {
  return timeoutMs === undefined ? { body } : { body, timeoutMs };
}
