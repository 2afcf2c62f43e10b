/** `svc tool` and `svc approval`: tools of a running node, what becomes of calls, and calls that wait for somebody. */
import type { Answer } from '../../client/client.ts';
import { usageError } from '../cli-error.ts';
import { type Columns, printable, tableOf } from '../format.ts';
import { listCommand, requestCommand } from '../server-command.ts';

type Rule = Answer<'GET /api/v1/tools/policies'>['rules'][number];
type Approval = Answer<'POST /api/v1/security/approvals/{id}'>;

export const toolList = listCommand({
  words: ['tool', 'list'],
  summary: 'List the tools that the account in SVC_API_KEY may use',
  examples: ['svc tool list'],
  route: 'GET /api/v1/agent/tools',
  columns: {
    TOOL: ({ name }) => name,
    EFFECT: ({ effect }) => effect,
    'IN CHATS': ({ approval }) => approval,
    STATE: ({ state }) => state,
    DESCRIPTION: ({ description }) => description,
  },
  empty: 'no tools',
});

export const toolRun = requestCommand({
  words: ['tool', 'run'],
  summary: 'Call a tool with the rights of the account in SVC_API_KEY',
  positionals: [
    { name: 'TOOL', help: 'as `svc tool list` shows it' },
    { name: 'ARGUMENTS', help: 'a JSON object (default: {})', optional: true },
  ],
  options: {
    approval: { kind: 'text', value: 'ID', help: 'of the same call, where it was approved' },
    timeout: { kind: 'integer', value: 'SECONDS', min: 1, max: 3600, help: 'how long it may take (default: as the tool says)' },
  },
  examples: [`svc tool run knowledge.search '{"query": "opening hours"}'`],
  route: 'POST /api/v1/tools/execute',
  given: ({ positionals: [tool = '', text = '{}'], options: { approval, timeout } }) => ({
    body: { tool, arguments: readArguments(text), approval_id: approval, timeout_seconds: timeout },
  }),
  text: ({ result, error }) => (error === undefined ? JSON.stringify(result, null, 2) : `${error.error}: ${error.detail}`),
  exit: ({ ok }) => (ok ? 'ok' : 'failed'),
});

const ruleColumns: Columns<Rule> = {
  DECISION: ({ decision }) => decision,
  TOOLS: ({ tools }) => tools.join(' '),
  ROLES: ({ roles }) => roles?.join(' ') ?? 'all',
};

export const toolPolicy = requestCommand({
  words: ['tool', 'policy'],
  summary: 'Show what becomes of calls of tools in the tenant',
  examples: ['svc tool policy'],
  route: 'GET /api/v1/tools/policies',
  text: ({ rules }) =>
    rules.length === 0 ? 'no rules: calls that change nothing are made, all others ask' : tableOf(ruleColumns, rules),
});

const pattern = (what: string) =>
  ({ kind: 'texts', value: 'TOOL', help: `${what}; * stands for any characters; may be repeated` }) as const;

export const toolPolicySet = requestCommand({
  words: ['tool', 'policy', 'set'],
  summary: 'Set what becomes of calls of tools in the tenant, in place of the rules before',
  options: {
    deny: pattern('tools that are never called'),
    ask: pattern('tools that ask each time'),
    allow: pattern('tools that models call without asking'),
    exempt: pattern('tools that do not ask again where text of others came before the call'),
    timeout: { kind: 'integer', value: 'SECONDS', min: 5, max: 3600, help: 'how long a chat waits for a decision (default 120)' },
    plans: { kind: 'choice', choices: ['owner', 'second_person'], help: 'whoever approves plans of goals (default owner)' },
  },
  examples: ["svc tool policy set --allow 'artifacts.*' --ask conversations.search"],
  route: 'PUT /api/v1/tools/policies',
  given: ({ options: { deny = [], ask = [], allow = [], exempt = [], timeout = 120, plans } }) => {
    const rules = Object.entries({ deny, ask, allow }).flatMap(([decision, tools]) =>
      tools.length === 0 ? [] : [{ decision: decision as Rule['decision'], tools: [...tools] }],
    );
    return { body: { rules, timeout_seconds: timeout, taint_exempt: [...exempt], plan_approval: plans } };
  },
  text: ({ rules }) => (rules.length === 0 ? 'no rules are left' : tableOf(ruleColumns, rules)),
});

const approvalId = { name: 'ID', help: 'of the approval, as `svc approval list` shows it' };

export const approvalList = listCommand({
  words: ['approval', 'list'],
  summary: 'List the calls of tools that asked, newest first',
  options: { state: { kind: 'choice', choices: ['pending', 'approved', 'denied', 'used'], help: 'only those (default: all)' } },
  examples: ['svc approval list --state pending'],
  route: 'GET /api/v1/security/approvals',
  given: ({ options: { state } }) => ({ query: { limit: 100, state } }),
  columns: {
    ID: ({ id }) => id,
    STATE: ({ state }) => state,
    TOOL: ({ tool }) => tool,
    EFFECT: ({ effect }) => effect,
    ARGUMENTS: ({ arguments: given }) => JSON.stringify(given),
    'ASKED BY': ({ asked_by: by }) => by,
    EXPIRES: ({ expires_at: at }) => at,
  },
  empty: 'no calls asked',
});

export const approvalShow = requestCommand({
  words: ['approval', 'show'],
  summary: 'Show a call that asked, and what became of one that was made when it was approved',
  positionals: [approvalId],
  examples: ['svc approval show apr_0199a3b2-0000-7000-8000-000000000000'],
  route: 'GET /api/v1/security/approvals/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: decidedText,
});

export const approvalApprove = requestCommand({
  words: ['approval', 'approve'],
  summary: 'Approve a call of a tool: it may be made once, as it is shown',
  positionals: [approvalId],
  options: {
    arguments: { kind: 'text', value: 'JSON', help: 'an object that takes the place of the arguments of the call' },
    remember: {
      kind: 'choice',
      choices: ['once', 'conversation', 'always'],
      help: 'how long the tool does not ask again (default once)',
    },
  },
  examples: ['svc approval approve apr_0199a3b2-0000-7000-8000-000000000000'],
  route: 'POST /api/v1/security/approvals/{id}',
  given: ({ positionals: [id = ''], options: { arguments: text, remember } }) => ({
    params: { id },
    body: { decision: 'approve', remember, ...(text !== undefined && { arguments: readArguments(text) }) },
  }),
  text: decidedText,
});

export const approvalDeny = requestCommand({
  words: ['approval', 'deny'],
  summary: 'Deny a call of a tool',
  positionals: [approvalId],
  options: { reason: { kind: 'text', value: 'TEXT', help: 'which the caller is told' } },
  examples: ['svc approval deny apr_0199a3b2-0000-7000-8000-000000000000 --reason "not today"'],
  route: 'POST /api/v1/security/approvals/{id}',
  given: ({ positionals: [id = ''], options: { reason } }) => ({ params: { id }, body: { decision: 'deny', reason } }),
  text: decidedText,
});

function decidedText({ id, state, tool, arguments: given, outcome }: Approval): string {
  const made = outcome === null ? '' : `\n${JSON.stringify(outcome)}`;
  return printable(`${id} is ${state}: ${tool} ${JSON.stringify(given)}${made}`);
}

function readArguments(text: string): object {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The sentence below says what is wanted.
  }
  throw usageError(`${text.slice(0, 100)} is no JSON object`, `write for example '{"query": "opening hours"}'`);
}
