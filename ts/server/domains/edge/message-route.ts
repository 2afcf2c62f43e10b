/** Messages and calls: the tools comm.send and comm.call by routes of their own, so that a tenant's policy holds for people as for models. */
import type { Static } from 'typebox';
import { json, type RequestContext, type Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { CallAccepted, commErrors, MessageAccepted, SendMessage, StartCall } from '../comm/index.ts';
import { mediaErrors, speakingErrors } from '../media/index.ts';
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

interface Done {
  readonly id: string;
  readonly state: (Static<typeof MessageAccepted> & Static<typeof CallAccepted>)['state'];
}

const refusals = commErrors.specs(
  'invalid_request',
  'recipient_not_allowed',
  'account_cannot',
  'attachment_refused',
  'account_not_found',
  'account_disabled',
  'account_key_elsewhere',
  'send_limit_exceeded',
);

export function commToolRoutes(executor: OwnRouteRunner): Route[] {
  return [
    post('/api/v1/comm/messages', {
      summary: 'Send a message over an account',
      description:
        'It is on disk when this answers, and goes out once: GET /api/v1/comm/messages/{id} says what became of it. The same `idempotency_key` gives the ' +
        'first record.',
      body: SendMessage,
      responses: { 202: MessageAccepted },
      errors: [...refusals, ...commErrors.specs('idempotency_key_reused'), ...ownRouteErrors],
      handle: async (context) => {
        const { id, state, ...asked } = await run(executor, 'comm.send', context);
        return json(202, { message_id: id, state, ...asked });
      },
    }),
    post('/api/v1/comm/calls/start', {
      summary: 'Call a telephone over an account',
      description: 'It is being made when this answers: GET /api/v1/comm/calls/{id} says how it goes, and how it ended.',
      body: StartCall,
      responses: { 202: CallAccepted },
      errors: [...refusals, ...commErrors.specs('calls_busy'), ...mediaErrors.specs(...speakingErrors), ...ownRouteErrors],
      handle: async (context) => {
        const { id, state, ...asked } = await run(executor, 'comm.call', context);
        return json(202, { call_id: id, state, ...asked });
      },
    }),
  ];
}

async function run(
  executor: OwnRouteRunner,
  tool: string,
  context: RequestContext<unknown, unknown, { readonly account_id: string }>,
) {
  // Whoever has no account has no such tool.
  const missing = () => commErrors.error('account_not_found', `There is no account ${JSON.stringify(context.body.account_id)}.`);
  const outcome = await callByOwnRoute<Done>(executor, context, { tool, arguments: context.body, missing });
  if (!('result' in outcome)) return { id: null, state: 'waiting_approval' as const, ...outcome };
  const { id, state } = outcome.result;
  return { id, state };
}
