/** Goals on a node whose model says what a script says, over the tools of the bed of edge. */
import type { Test } from 'tap';
import type { Principal } from '../../../platform/http/principal.ts';
import type { JobsOptions } from '../../../platform/jobs/index.ts';
import { standIn } from '../../../platform/module/test-support/open-modules.ts';
import { type CompletionsApi, completions } from '../../completions/index.ts';
import { callerOf, openEdge } from '../../edge/test-support/edge-bed.ts';
import type { Delegation, IdentityApi } from '../../identity/index.ts';
import { swarm } from '../index.ts';

const ALL = ['goals:use', 'tools:use', 'chat:use', 'knowledge:read', 'account:manage'];
export const ann = callerOf('usr_ann', 'developer', { scopes: ALL });
export const bob = callerOf('usr_bob', 'developer', { scopes: ALL });
export const eve = callerOf('usr_eve', 'developer', { scopes: ALL, tenant: 'blue' });

type Chat = CompletionsApi['chat'];
interface Body {
  messages: { role: string; content: string; tool_call_id?: string }[];
  tools?: { function: { name: string } }[];
  response_format?: object;
}
export interface Said {
  readonly content?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args?: object }[];
}
interface WrittenStep {
  readonly instruction: string;
  readonly tools?: readonly string[];
  readonly needs?: readonly number[];
  readonly agent?: string;
}

export const plan = (...steps: readonly WrittenStep[]) => ({
  steps: steps.map(({ instruction, tools = [], needs = [], agent = 'agent' }) => ({ agent, instruction, tools, needs })),
});

export interface Script {
  plan: object | ((prompt: string) => object);
  /** Millionths that each answer is billed with. */
  costMicros?: number;
  /** Is called within each call of a tool. */
  onCall?: (text: string) => Promise<void>;
  /** The turn of a step, by its instruction and the messages of the step so far. */
  say(instruction: string, results: readonly string[]): Said | Promise<Said>;
}

export const calling = (name: string, text: string): Said => ({ calls: [{ id: `c_${text}`, name, args: { text } }] });

/** @param over the delegations of these accounts have nobody behind them any more. */
export async function openGoals(
  t: Test,
  databaseUrl: string,
  script: Script,
  over = new Set<string>(),
  jobs: Partial<JobsOptions> = {},
) {
  const bodies: Body[] = [];
  const chat: Chat = async (_caller, body) => {
    const asked = body as Body;
    bodies.push(asked);
    const at = asked.messages.findIndex(({ role }) => role === 'user');
    const own = asked.messages.slice(at + 1);
    const results = own.filter(({ role }) => role === 'tool').map(({ content }) => content);
    const said: Said =
      asked.response_format === undefined
        ? await script.say(asked.messages[at]?.content ?? '', results)
        : {
            content: JSON.stringify(
              typeof script.plan === 'function' ? script.plan(asked.messages[at]?.content ?? '') : script.plan,
            ),
          };
    const calls = (said.calls ?? []).map(({ id, name, args = {} }) => ({
      id,
      type: 'function' as const,
      function: { name, arguments: JSON.stringify(args) },
    }));
    const message = {
      role: 'assistant' as const,
      content: said.content ?? null,
      refusal: null,
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return {
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' as const }],
      costMicros: script.costMicros ?? 0,
      usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
    } as unknown as Awaited<ReturnType<Chat>>;
  };
  const delegations = {
    of: (caller: Principal, limits: object) => ({ ...caller, user: caller.subject, limits }) as unknown as Delegation,
    principalOf: async (delegation: Delegation) =>
      over.has(delegation.user ?? '')
        ? undefined
        : ({ ...delegation, subject: delegation.user, limits: undefined } as unknown as Principal),
  } as unknown as IdentityApi['delegations'];
  const bed = await openEdge(t, {
    databaseUrl,
    modules: [swarm, standIn(completions, { chat })],
    identity: { delegations },
    jobs: { pollMs: 20, ...jobs },
    onCall: script.onCall,
  });
  const ask = (as: Principal, method: string, path: string, body?: object) =>
    bed.ask(method, `/api/v1/swarm/goals${path}`, as, body);
  const make = async (as: Principal, more: object = {}) =>
    (await ask(as, 'POST', '', { goal: 'Reach it.', tools: ['test.read', 'test.write'], ...more })).body;
  const until = async (as: Principal, id: string, ...states: string[]) => {
    for (;;) {
      const { body } = await ask(as, 'GET', `/${id}`);
      if (states.includes(body.state)) return body;
      if (['failed', 'done', 'cancelled'].includes(body.state))
        throw new Error(`the goal is ${body.state}: ${JSON.stringify(body)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return { ...bed, api: bed.ask, bodies, ask, make, until };
}
