/** A response that is kept: what `GET /v1/responses/{id}` shows of it, and what a later one continues. */
import type { JobUsage } from '../../../native/llama-shapes.ts';

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** An input or output item as the Responses API spells it; every kept one has an id. */
export type KeptItem = Record<string, unknown> & { id: string; type: string };

export interface ResponseFailure {
  code: string;
  message: string;
}

/** How a response ended. */
export interface ResponseEnd {
  status: Extract<ResponseStatus, 'completed' | 'incomplete' | 'failed'>;
  output: readonly KeptItem[];
  usage?: JobUsage | undefined;
  error?: ResponseFailure | undefined;
}

/** A response as it is known when it is created. */
export interface NewResponse {
  id: string;
  /** Id of the model that answers. */
  model: string;
  /** The account that asked for it. */
  owner: string | undefined;
  previousId: string | undefined;
  /** Members of the response object that never change. */
  head: Record<string, unknown>;
  input: readonly KeptItem[];
  /** Milliseconds since 1970, as expiresAt. */
  createdAt: number;
  /** Then it is deleted, unless another response still continues it. */
  expiresAt: number;
}

/** Without its input, which may be large and has a list of its own. */
export interface KeptResponse {
  id: string;
  status: ResponseStatus;
  head: Record<string, unknown>;
  output: KeptItem[];
  usage: JobUsage | undefined;
  error: ResponseFailure | undefined;
  isBackground: boolean;
  /** The job that makes a background response; undefined until it is enqueued. */
  jobId: string | undefined;
  /** Number of the event that ended a background response's stream; 0 before the end, and for others. */
  endSequence: number;
  /** Milliseconds since 1970. */
  createdAt: number;
}

export function isOpen({ status }: Pick<KeptResponse, 'status'>): boolean {
  return status === 'queued' || status === 'in_progress';
}
