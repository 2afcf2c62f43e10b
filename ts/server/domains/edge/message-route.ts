/** Sending a message: the tool comm.send by a route of its own, so that a tenant's policy holds for people as for models. */
import { DomainError } from '../../platform/errors/domain-error.ts';
import { json, type Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { commErrors, MessageAccepted, SendMessage } from '../comm/index.ts';
import { auditSource } from '../identity/index.ts';
import { quotaErrors } from '../metering/index.ts';
import { toolCallErrors } from '../security/index.ts';
import { DIRECT_RUN, type ToolExecutor } from './calls/tool-executor.ts';
import { edgeError, edgeErrors } from './errors.ts';

const MAX_BODY_BYTES = 128 * 1024;
const { post } = routes({
  tag: 'Communication',
  auth: 'developer',
  scope: 'comm:send',
  maxBody: MAX_BODY_BYTES,
  errors: edgeErrors,
});

interface Sent {
  readonly id: string;
  readonly state: 'queued' | 'sending' | 'sent' | 'failed' | 'outcome_unknown';
}

export function messageRoute(executor: Pick<ToolExecutor, 'execute'>): Route {
  return post('/api/v1/comm/messages', {
    summary: 'Send a message over an account',
    description:
      'It is on disk when this answers, and goes out once: GET /api/v1/comm/messages/{id} says what became of it. The same `idempotency_key` gives the ' +
      'first record.',
    body: SendMessage,
    responses: { 202: MessageAccepted },
    errors: [
      ...commErrors.specs(
        'invalid_request',
        'recipient_not_allowed',
        'attachment_refused',
        'account_not_found',
        'account_disabled',
        'account_key_elsewhere',
        'idempotency_key_reused',
        'send_limit_exceeded',
      ),
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
    ],
    handle: async (context) => {
      const call = { tool: 'comm.send', arguments: context.body, source: auditSource(context), signal: context.signal };
      const outcome = await executor
        .execute({ ...call, isDirect: true, isOwnRoute: true, isTainted: false, run: DIRECT_RUN })
        .catch((error: unknown) => refuse(error, context.body.account_id));
      if ('approval_id' in outcome) return json(202, outcome);
      if (!outcome.isDone)
        throw outcome.refusal ?? edgeError('tool_failed', outcome.error?.detail ?? 'The message was not sent.');
      const { id, state } = outcome.result as Sent;
      return json(202, { message_id: id, state });
    },
  });
}

/** Whoever has no account has no such tool. */
function refuse(error: unknown, account: string) {
  if (!(error instanceof DomainError)) throw error;
  if (error.code === 'approval_required')
    return { message_id: null, state: 'waiting_approval' as const, approval_id: String(error.extra['approval_id']) };
  if (error.code === 'tool_not_found')
    throw commErrors.error('account_not_found', `There is no account ${JSON.stringify(account)}.`);
  throw error;
}
