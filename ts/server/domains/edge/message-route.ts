/** Sending a message: the tool comm.send by a route of its own, so that a tenant's policy holds for people as for models. */
import { json, type Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { commErrors, MessageAccepted, SendMessage } from '../comm/index.ts';
import { callByOwnRoute, type OwnRouteRunner, ownRouteErrors } from './calls/own-route.ts';
import { edgeErrors } from './errors.ts';

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

export function messageRoute(executor: OwnRouteRunner): Route {
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
      ...ownRouteErrors,
    ],
    handle: async (context) => {
      // Whoever has no account has no such tool.
      const missing = () =>
        commErrors.error('account_not_found', `There is no account ${JSON.stringify(context.body.account_id)}.`);
      const call = { tool: 'comm.send', arguments: context.body, missing };
      const outcome = await callByOwnRoute<Sent>(executor, context, call);
      if (!('result' in outcome)) return json(202, { message_id: null, state: 'waiting_approval' as const, ...outcome });
      const { id, state } = outcome.result;
      return json(202, { message_id: id, state });
    },
  });
}
