/** The data that the job of a background response needs beside the input. It is kept until the response has ended. */
import type { Principal } from '../../../../../platform/http/principal.ts';
import type { ResponsesRequest } from '../schema.ts';

/** The rights of the request, for a job that runs without it. */
export interface BackgroundLimits {
  /** Ids of the only models that the credential may use. */
  models?: readonly string[];
  timeoutMs?: number;
  /** The account whose use is metered. */
  user?: string | undefined;
  key?: string | undefined;
  /** The caller of a response that searches or reads files. */
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
    body,
    user,
    key,
    caller,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(models !== undefined && { models }),
  };
}

type StoredCaller = Partial<Principal> & { models?: readonly string[]; namespaces?: readonly string[] };

/** The caller of a stored request. One that an earlier release stored has the names of each kind beside its other members. */
export function storedCaller(caller: StoredCaller = {}): Partial<Principal> {
  const { models, namespaces, ...others } = caller;
  const limits = { ...(models && { models }), ...(namespaces && { namespaces }), ...others.limits };
  return { ...others, ...(Object.keys(limits).length > 0 && { limits }) };
}
