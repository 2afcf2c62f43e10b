/** Messages as tools. Without the account's leave a model's message waits for approval. */
import Type from 'typebox';
import type { Principal } from '../../platform/http/principal.ts';
import { defineTool, type Tool } from '../../platform/tools/tool.ts';
import type { Calls } from './calls/calls.ts';
import { accountBody, callBody, messageBody, SendMessage, StartCall } from './schemas.ts';
import type { CommService } from './service.ts';

const NoInput = Type.Object({}, { additionalProperties: false });

export class CommTools {
  readonly #service: CommService;
  readonly #tools: readonly Tool[];

  constructor(service: CommService, calls: Calls) {
    this.#service = service;
    this.#tools = [accountsTool(service), sendTool(service), callTool(service, calls)];
  }

  /** None for a tenant without an account that is on. */
  async of(caller: Principal): Promise<readonly Tool[]> {
    return (await this.#service.accounts(caller)).some(({ enabled }) => enabled === 1) ? this.#tools : [];
  }
}

function accountsTool(service: CommService): Tool {
  return defineTool({
    name: 'comm.accounts',
    description: 'List the accounts over which messages can be sent, and whom each reaches.',
    input: NoInput,
    effect: 'read',
    scope: 'comm:send',
    maxSeconds: 10,
    isUntrusted: false,
    run: async ({ caller }) => ({
      accounts: (await service.accounts(caller)).map(accountBody).filter(({ enabled }) => enabled),
    }),
  });
}

function sendTool(service: CommService): Tool {
  return defineTool({
    name: 'comm.send',
    description:
      'Send a message over an account, once. The answer says that it is on its way. Do not send one again whose outcome is unknown.',
    input: SendMessage,
    effect: 'external',
    scope: 'comm:send',
    maxSeconds: 30,
    isUntrusted: false,
    about: ['account_id'],
    asks: async ({ caller, isOwnRoute, arguments: request }) =>
      isOwnRoute ? undefined : await service.approvalRule(caller, request),
    run: async ({ caller, arguments: request }) => messageBody(await service.send(caller, request)),
  });
}

function callTool(service: CommService, calls: Calls): Tool {
  return defineTool({
    name: 'comm.call',
    description:
      'Call a telephone over an account that makes calls, say a text or play a file, and collect keys or record. The answer says that it is being made.',
    input: StartCall,
    effect: 'external',
    scope: 'comm:send',
    maxSeconds: 60,
    isUntrusted: false,
    about: ['account_id'],
    asks: async ({ caller, isOwnRoute, arguments: request }) =>
      isOwnRoute ? undefined : await service.approvalRule(caller, request),
    run: async ({ caller, arguments: request }) => callBody(await calls.start(caller, request), { digits: '', transcript: null }),
  });
}
