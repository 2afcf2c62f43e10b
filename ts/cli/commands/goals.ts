/** `svc goal` and `svc schedule`: goals that agents reach step by step on a running node, once or again and again. */
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
  cost: { kind: 'integer', value: 'MICROS', min: 1, help: 'what providers may bill, in millionths' },
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
  given: ({ positionals: [goal = ''], options: { steps, tokens, seconds, cost, tool, swarm, until } }) => ({
    body: {
      goal,
      tools: tool === undefined ? undefined : [...tool],
      swarm_id: swarm,
      until,
      budget: limitsOf({ steps, tokens, seconds, cost_micros: cost }),
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
  given: ({ positionals: [id = ''], options: { steps, tokens, seconds, cost } }) => ({
    params: { id },
    body: { budget: limitsOf({ steps, tokens, seconds, cost_micros: cost }) },
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

const scheduleId = { name: 'ID', help: 'of the schedule, as `svc schedule list` shows it' };
type Schedule = Answer<'PATCH /api/v1/agent/schedules/{id}'>;

export const scheduleCreate = requestCommand({
  words: ['schedule', 'create'],
  summary: 'Have a goal or a prompt again and again, with the rights of the account in SVC_API_KEY',
  positionals: [
    { name: 'NAME', help: 'of the schedule' },
    { name: 'CRON', help: 'minute, hour, day, month and weekday: "0 9 * * 1-5"' },
  ],
  options: {
    ...budgetOptions,
    goal: { kind: 'text', value: 'TEXT', help: 'what is planned and reached each time' },
    prompt: { kind: 'text', value: 'TEXT', help: 'what is asked each time, without a plan' },
    timezone: { kind: 'text', value: 'ZONE', help: 'in which the times are, as Europe/Berlin (default UTC)' },
    tool: { kind: 'texts', value: 'TOOL', help: 'a tool that it may use (default: yours); may be repeated' },
    overlap: { kind: 'choice', choices: ['skip', 'queue', 'allow'], help: 'while an earlier one is under way (default skip)' },
    'catch-up': { kind: 'choice', choices: ['none', 'one', 'all'], help: 'of times without a node (default none)' },
  },
  examples: [
    'svc schedule create Digest "0 9 * * 1-5" --timezone Europe/Berlin --prompt "What is new in the handbook?" --tool knowledge.search',
  ],
  route: 'POST /api/v1/agent/schedules',
  given: ({ positionals: [name = '', cron = ''], options }) => {
    const { goal, prompt, timezone, tool, overlap, steps, tokens, seconds, cost } = options;
    const about = { name, cron, goal, prompt, timezone, overlap, catch_up: options['catch-up'] };
    const tools = tool === undefined ? undefined : [...tool];
    return { body: { ...about, tools, budget: limitsOf({ steps, tokens, seconds, cost_micros: cost }) } };
  },
  text: scheduleText,
});

export const scheduleList = listCommand({
  words: ['schedule', 'list'],
  summary: 'List your schedules',
  route: 'GET /api/v1/agent/schedules',
  columns: {
    SCHEDULE: ({ id }) => id,
    NAME: ({ name }) => printable(name),
    CRON: ({ cron, timezone }) => `${cron} ${timezone}`,
    STATE: ({ enabled, paused }) => (enabled ? 'enabled' : paused === undefined ? 'disabled' : `paused: ${paused.error}`),
    NEXT: ({ next_at: at }) => at ?? '-',
    LAST: ({ last_fire: last }) => (last === undefined ? '-' : `${last.state} ${last.goal_id ?? ''}`.trim()),
  },
  empty: 'no schedules',
});

const switched = (word: 'enable' | 'disable', summary: string) =>
  requestCommand({
    words: ['schedule', word],
    summary,
    positionals: [scheduleId],
    route: 'PATCH /api/v1/agent/schedules/{id}',
    given: ({ positionals: [id = ''] }) => ({ params: { id }, body: { enabled: word === 'enable' } }),
    text: scheduleText,
  });

export const scheduleEnable = switched('enable', 'Let a schedule go on, with the rights of the account in SVC_API_KEY');
export const scheduleDisable = switched('disable', 'Have a schedule rest');

export const scheduleRun = requestCommand({
  words: ['schedule', 'run'],
  summary: 'Set the goal of a schedule now',
  positionals: [scheduleId],
  route: 'POST /api/v1/agent/schedules/{id}/run',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: goalText,
});

export const scheduleRm = requestCommand({
  words: ['schedule', 'rm'],
  summary: 'Remove a schedule; its goals go on',
  positionals: [scheduleId],
  route: 'DELETE /api/v1/agent/schedules/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: (_, { positionals: [id = ''] }) => `removed ${id}`,
});

function scheduleText({ id, name, cron, timezone, enabled, next_at: nextAt }: Schedule): string {
  return `${id} (${printable(name)}): ${cron} ${timezone}, ${enabled ? `next at ${nextAt}` : 'not enabled'}`;
}

/** Returns the limits that were given. */
function limitsOf(limits: Readonly<Record<keyof Goal['budget'], number | undefined>>): Partial<Goal['budget']> {
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
