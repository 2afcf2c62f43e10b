/** A tool by a route of its own module, for a person: a tenant's policy, approvals and budgets hold there as they do for models. */
import { DomainError } from '../../../platform/errors/domain-error.ts';
import type { RequestContext } from '../../../platform/http/route.ts';
import { auditSource } from '../../identity/index.ts';
import { quotaErrors } from '../../metering/index.ts';
import { toolCallErrors } from '../../security/index.ts';
import { edgeError } from '../errors.ts';
import { DIRECT_RUN, type ToolExecutor } from './tool-executor.ts';

export type OwnRouteRunner = Pick<ToolExecutor, 'execute'>;

interface OwnRouteCall {
  readonly tool: string;
  readonly arguments: unknown;
  /** The approval that the request names; without one, what asks waits, and is made as soon as it is approved. */
  readonly approvalId?: string | undefined;
  /** The refusal where the caller has no such tool: it has nothing that the tool could be about. */
  readonly missing: () => DomainError;
}

/** The call waits for an approval, or was made and has a result. */
type OwnRouteOutcome<Result> = { readonly approval_id: string } | { readonly result: Result };

/** What each such route may answer, beside the refusals of its module. */
export const ownRouteErrors = [
  'insufficient_scope',
  'forbidden',
  'tool_changed',
  'budget_exceeded',
  'client_closed',
  'tool_unavailable',
  'tool_timeout',
  'tool_failed',
  ...toolCallErrors,
  ...quotaErrors,
] as const;

/** Throws what the call is refused with, and the tool's own refusal as it is. `Result` is what the tool returns. */
export async function callByOwnRoute<Result>(
  executor: OwnRouteRunner,
  context: RequestContext<unknown, unknown, unknown>,
  { missing, ...call }: OwnRouteCall,
): Promise<OwnRouteOutcome<Result>> {
  const { signal } = context;
  const by = { source: auditSource(context), signal, run: DIRECT_RUN, isDirect: true, isOwnRoute: true, isTainted: false };
  const outcome = await executor.execute({ ...call, ...by }).catch((error: unknown) => {
    if (!(error instanceof DomainError)) throw error;
    if (error.code === 'approval_required') return { approval_id: String(error.extra['approval_id']) };
    throw error.code === 'tool_not_found' ? missing() : error;
  });
  if ('approval_id' in outcome) return outcome;
  if (outcome.isDone) return { result: outcome.result as Result };
  throw outcome.refusal ?? edgeError('tool_failed', outcome.error?.detail ?? `${call.tool} was not done.`);
}
