/** Accounts, and what became of messages. Sending is a tool, which the module edge runs, also at /api/v1/comm/messages. */
import Type from 'typebox';
import { listOf, PageQuery, page, pageRead } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { auditEntry, auditSource, type IdentityApi } from '../identity/index.ts';
import { featureErrors } from '../license/index.ts';
import { type SecurityApi, toolCallErrors } from '../security/index.ts';
import type { Calls } from './calls/calls.ts';
import { commErrors } from './errors.ts';
import {
  AccountId,
  AccountList,
  AccountShape,
  AddAccount,
  accountBody,
  CallId,
  CallShape,
  ChangeAccount,
  callBody,
  MessageId,
  MessageShape,
  messageBody,
  SearchAnswer,
} from './schemas.ts';
import type { CommService } from './service.ts';

interface CommRouteDeps {
  readonly service: CommService;
  readonly calls: Calls;
  readonly security: Pick<SecurityApi, 'requireToolCall'>;
  readonly recordAct: IdentityApi['recordAct'];
}

const ACCOUNTS = '/api/v1/comm/accounts';
const MESSAGES = '/api/v1/comm/messages';
const MAX_BODY_BYTES = 128 * 1024;
const OWN_OR_ALL = 'Your own; for administrators all of the tenant.';
const TestAccount = Type.Object({ to: Type.Optional(Type.String({ maxLength: 300 })) }, { additionalProperties: false });

const { get, post } = routes({
  tag: 'Communication',
  auth: 'viewer',
  scope: 'tools:use',
  maxBody: MAX_BODY_BYTES,
  errors: commErrors,
});
const sending = routes({
  tag: 'Communication',
  auth: 'developer',
  scope: 'comm:send',
  maxBody: MAX_BODY_BYTES,
  errors: commErrors,
});
const managed = routes({
  tag: 'Communication',
  auth: 'admin',
  scope: 'tools:manage',
  maxBody: MAX_BODY_BYTES,
  errors: commErrors,
});

export function commRoutes(deps: CommRouteDeps): Route[] {
  return [...accountRoutes(deps), ...messageRoutes(deps), ...callRoutes(deps)];
}

function accountRoutes({ service, security, recordAct }: CommRouteDeps): Route[] {
  const refusals = ['invalid_request', 'unsafe_address', 'account_exists', ...featureErrors] as const;
  return [
    get(ACCOUNTS, {
      summary: 'Accounts over which messages are sent',
      answer: AccountList,
      handle: async ({ caller }) => ({ data: (await service.accounts(caller)).map(accountBody) }),
    }),
    managed.post(ACCOUNTS, {
      summary: 'Add an account',
      body: AddAccount,
      answer: AccountShape,
      status: 201,
      errors: refusals,
      handle: async (context) => {
        const { kind, ...changes } = context.body;
        const account = await service.add(context.caller, kind, changes);
        await recordAct(auditEntry(auditSource(context), { action: 'comm.account.add', target: account.id, detail: { kind } }));
        return accountBody(account);
      },
    }),
    managed.patch(`${ACCOUNTS}/{id}`, {
      summary: 'Change an account, or switch it on or off',
      params: AccountId,
      body: ChangeAccount,
      answer: AccountShape,
      errors: [...refusals, 'account_not_found'],
      handle: async (context) => {
        const { caller, params, body } = context;
        const account = await service.change(caller, params.id, body);
        const detail = { changed: Object.keys(body) };
        await recordAct(auditEntry(auditSource(context), { action: 'comm.account.change', target: params.id, detail }));
        return accountBody(account);
      },
    }),
    managed.del(`${ACCOUNTS}/{id}`, {
      summary: 'Remove an account',
      params: AccountId,
      errors: ['account_not_found'],
      handle: async (context) => {
        const { caller, params } = context;
        await service.remove(caller, params.id);
        await recordAct(auditEntry(auditSource(context), { action: 'comm.account.remove', target: params.id }));
      },
    }),
    managed.post(`${ACCOUNTS}/{id}/test`, {
      summary: 'Send a test message over an account',
      description: 'Its state says whether the provider took it.',
      params: AccountId,
      body: TestAccount,
      answer: MessageShape,
      status: 202,
      errors: [
        'account_not_found',
        'account_disabled',
        'account_key_elsewhere',
        'recipient_not_allowed',
        'account_cannot',
        'send_limit_exceeded',
        ...toolCallErrors,
      ],
      handle: async (context) => {
        const { caller, params, body } = context;
        security.requireToolCall(caller, 'comm.send');
        const message = await service.test(caller, params.id, body.to ?? '');
        await recordAct(
          auditEntry(auditSource(context), { action: 'comm.account.test', target: params.id, detail: { message: message.id } }),
        );
        return messageBody(message);
      },
    }),
  ];
}

function callRoutes({ calls, recordAct }: CommRouteDeps): Route[] {
  return [
    sending.get('/api/v1/comm/calls', {
      summary: 'Calls, newest first',
      description: OWN_OR_ALL,
      query: PageQuery,
      answer: listOf(CallShape),
      handle: async ({ caller, query }) => {
        const rows = await calls.list(caller, pageRead(query));
        const heard = new Map(await Promise.all(rows.map(async (row) => [row, await calls.heardIn(row)] as const)));
        return page(rows, query.limit, (row) => callBody(row, heard.get(row) ?? { digits: null, transcript: null }));
      },
    }),
    sending.get('/api/v1/comm/calls/{id}', {
      summary: 'How a call goes, or went',
      description: OWN_OR_ALL,
      params: CallId,
      answer: CallShape,
      errors: ['call_not_found'],
      handle: async ({ caller, params }) => {
        const call = await calls.get(caller, params.id);
        return callBody(call, await calls.heardIn(call));
      },
    }),
    sending.post('/api/v1/comm/calls/{id}/hangup', {
      summary: 'Hang a call up',
      description: 'It answers when the call has ended. One that has its end keeps it.',
      params: CallId,
      answer: CallShape,
      errors: ['call_not_found', 'account_key_elsewhere'],
      handle: async (context) => {
        const { caller, params } = context;
        const call = await calls.hangUp(caller, params.id);
        await recordAct(auditEntry(auditSource(context), { action: 'comm.call.hangup', target: params.id }));
        return callBody(call, await calls.heardIn(call));
      },
    }),
  ];
}

function messageRoutes({ service, security, recordAct }: CommRouteDeps): Route[] {
  return [
    sending.get(MESSAGES, {
      summary: 'Records of messages, newest first',
      description: OWN_OR_ALL,
      query: PageQuery,
      answer: listOf(MessageShape),
      handle: async ({ caller, query }) => page(await service.messages(caller, pageRead(query)), query.limit, messageBody),
    }),
    sending.get(`${MESSAGES}/{id}`, {
      summary: 'What became of a message',
      description: OWN_OR_ALL,
      params: MessageId,
      answer: MessageShape,
      errors: ['message_not_found'],
      handle: async ({ caller, params }) => messageBody(await service.message(caller, params.id)),
    }),
    sending.post(`${MESSAGES}/{id}/resend`, {
      summary: 'Send a message again whose outcome nobody knows',
      description: 'It may come twice: whoever does it has looked whether it came.',
      params: MessageId,
      answer: MessageShape,
      status: 202,
      errors: ['message_not_found', 'message_not_resendable', 'account_key_elsewhere', ...toolCallErrors],
      handle: async (context) => {
        const { caller, params } = context;
        security.requireToolCall(caller, 'comm.send');
        const message = await service.resend(caller, params.id);
        await recordAct(auditEntry(auditSource(context), { action: 'comm.resend', target: params.id }));
        return messageBody(message);
      },
    }),
    post('/api/v1/comm/search', {
      summary: 'Search messages: always empty',
      description:
        'Texts of messages are kept until their provider has answered, and no longer, so there is nothing to be found.',
      answer: SearchAnswer,
      handle: () => ({ results: [], count: 0 as const, _stub: true as const }),
    }),
  ];
}
