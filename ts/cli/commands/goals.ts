/** `svc goal`: goals that agents reach step by step on a running node. */
import type { Answer } from '../../client/client.ts';
import { readEvents } from '../../client/events.ts';
import { formatTable, printable } from '../format.ts';
import { listCommand, requestCommand, serverCommand } from '../server-command.ts';

type Goal = Answer<'GET /api/v1/swarm/goals/{id}'>;

const goalId = { name: 'ID', help: 'of the goal, as `svc goal list` shows it' };
const budgetOptions = {
  steps: { kind: 'integer', value: 'N', min: 1, help: 'steps that it may begin' },
  tokens: { kind: 'integer', value: 'N', min: 1, help: 'tokens of prompts and answers that it may use' },
  seconds: { kind: 'integer', value: 'N', min: 1, help: 'how long it may be worked at' },
} as const;

export const goalCreate = requestCommand({
  words: ['goal', 'create'],
  summary: 'Set a goal: a model plans it, and agents reach it with the rights of the account in SVC_API_KEY',
  positionals: [{ name: 'GOAL', help: 'what is to be reached, in words' }],
  options: {
    ...budgetOptions,
    tool: { kind: 'texts', value: 'TOOL', help: 'a tool that it may use (default: yours); may be repeated' },
    swarm: { kind: 'text', value: 'ID', help: 'the swarm that reaches it (default: one agent)' },
    until: { kind: 'choice', choices: ['plan', 'approve', 'execute'], help: 'how far it goes by itself (default plan)' },
  },
  examples: ['svc goal create "Write a summary of our opening hours" --tool knowledge.search --tool artifacts.create'],
  route: 'POST /api/v1/swarm/goals',
  given: ({ positionals: [goal = ''], options: { steps, tokens, seconds, tool, swarm, until } }) => ({
    body: {
      goal,
      tools: tool === undefined ? undefined : [...tool],
      swarm_id: swarm,
      until,
      budget: limitsOf({ steps, tokens, seconds }),
    },
  }),
  text: goalText,
});

export const goalList = listCommand({
  words: ['goal', 'list'],
  summary: 'List your goals, newest first',
  route: 'GET /api/v1/swarm/goals',
  columns: {
    GOAL: ({ id }) => id,
    STATE: ({ state }) => state,
    TOKENS: ({ used }) => String(used.tokens),
    CREATED: ({ created_at: at }) => at,
    WHAT: ({ goal }) => printable(goal).slice(0, 60),
  },
  empty: 'no goals',
});

export const goalShow = requestCommand({
  words: ['goal', 'show'],
  summary: 'Show a goal with its plan',
  positionals: [goalId],
  route: 'GET /api/v1/swarm/goals/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: goalText,
});

export const goalApprove = requestCommand({
  words: ['goal', 'approve'],
  summary: 'Approve the plan of a goal, by its hash',
  positionals: [goalId, { name: 'HASH', help: 'of the plan, as `svc goal show` shows it' }],
  route: 'POST /api/v1/swarm/goals/{id}/approve',
  given: ({ positionals: [id = '', hash = ''] }) => ({ params: { id }, body: { hash } }),
  text: goalText,
});

export const goalExecute = requestCommand({
  words: ['goal', 'execute'],
  summary: 'Have an approved, paused or stopped goal go on',
  positionals: [goalId],
  options: budgetOptions,
  route: 'POST /api/v1/swarm/goals/{id}/execute',
  given: ({ positionals: [id = ''], options: { steps, tokens, seconds } }) => ({
    params: { id },
    body: { budget: limitsOf({ steps, tokens, seconds }) },
  }),
  text: goalText,
});

export const goalPause = requestCommand({
  words: ['goal', 'pause'],
  summary: 'Pause a goal: nothing more begins',
  positionals: [goalId],
  route: 'POST /api/v1/swarm/goals/{id}/pause',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: goalText,
});

export const goalCancel = requestCommand({
  words: ['goal', 'cancel'],
  summary: 'Cancel a goal',
  positionals: [goalId],
  route: 'POST /api/v1/swarm/goals/{id}/cancel',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: goalText,
});

export const goalResolve = requestCommand({
  words: ['goal', 'resolve'],
  summary: 'Say what became of a step that was interrupted within a call',
  positionals: [
    goalId,
    { name: 'STEP', help: 'that is unknown' },
    { name: 'OUTCOME', help: 'done: the call was made; repeat: it is made again; skip: the step is left out' },
  ],
  route: 'POST /api/v1/swarm/goals/{id}/steps/{step}/resolve',
  given: ({ positionals: [id = '', step = '', outcome = ''] }) => ({
    params: { id, step },
    body: { outcome: outcome as 'done' | 'repeat' | 'skip' },
  }),
  text: goalText,
});

export const goalFollow = serverCommand({
  words: ['goal', 'follow'],
  summary: 'Watch a goal until it ends',
  positionals: [goalId],
  async run({ positionals: [id = ''], client, terminal }) {
    const { body } = await client.request('GET /api/v1/swarm/goals/{id}/events', { params: { id } });
    let last = '';
    for await (const events of body === null ? [] : readEvents(body))
      for (const { data } of events) {
        last = data;
        terminal.note(printable(data));
      }
    const { state = 'unknown' } = (last === '' ? {} : JSON.parse(last)) as { state?: string };
    terminal.result({ id, state }, `${id} is ${state}`);
    return state === 'done' ? 'ok' : 'failed';
  },
});

/** Returns the limits that were given. */
function limitsOf(limits: Readonly<Record<'steps' | 'tokens' | 'seconds', number | undefined>>): Partial<Goal['budget']> {
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined));
}

function goalText({ id, state, plan, used, budget, error }: Goal): string {
  const rows = plan.steps.map((step) => [
    step.id,
    step.agent,
    step.state,
    step.tools.join(' '),
    printable(step.instruction).slice(0, 80),
  ]);
  return [
    `${id} is ${state}${error === undefined ? '' : `: ${printable(error.detail)}`}`,
    `tokens: ${used.tokens} of ${budget.tokens}`,
    ...(plan.hash === '' ? [] : [`plan: ${plan.hash}`, formatTable(['STEP', 'AGENT', 'STATE', 'TOOLS', 'INSTRUCTION'], rows)]),
  ].join('\n');
}
