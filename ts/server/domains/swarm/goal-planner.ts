/** Makes the plan of a goal: a model writes it under a schema, and what the order of the team says is put over it. */
import type { Principal } from '../../platform/http/principal.ts';
import { hashOf } from '../../platform/tools/tool.ts';
import type { CompletionsApi } from '../completions/index.ts';
import { swarmError } from './errors.ts';
import type { Agent, Goal, PlannedStep, Team } from './goal.ts';

const MAX_STEPS = 20;
const MAX_INSTRUCTION = 2_000;
const PLAN_TOKENS = 4_096;
const TEMPLATE_TOKENS = 512;

interface WrittenStep {
  readonly agent: string;
  readonly instruction: string;
  readonly tools: readonly string[];
  readonly needs: readonly number[];
}

interface Planned {
  readonly plan: readonly PlannedStep[];
  readonly planHash: string;
  readonly nTokens: number;
  readonly costMicros: number;
}

/** Tokens that one plan may come to, with its prompt. */
export function planTokens({ goal, team }: Pick<Goal, 'goal' | 'team'>): number {
  return PLAN_TOKENS + mostTokens(promptOf(goal, team));
}

/** No token of a text is shorter than a byte; templates add some of their own. */
export function mostTokens(text: string): number {
  return Buffer.byteLength(text) + TEMPLATE_TOKENS;
}

/** Throws what the model is refused with, and `plan_failed` where it wrote none. */
export async function makePlan(
  chat: CompletionsApi['chat'],
  caller: Principal,
  { goal, team }: Pick<Goal, 'goal' | 'team'>,
  signal: AbortSignal,
): Promise<Planned> {
  const answer = await chat(
    caller,
    {
      model: modelOf(team.agents[0]),
      messages: [{ role: 'user', content: promptOf(goal, team) }],
      max_tokens: PLAN_TOKENS,
      temperature: 0,
      response_format: { type: 'json_schema', json_schema: { name: 'plan', schema: schemaOf(team), strict: true } },
    },
    signal,
  );
  const written = writtenSteps(answer.choices[0]?.message.content ?? '');
  const plan = ordered(team, written);
  return { plan, planHash: planHashOf(plan), nTokens: answer.usage.total_tokens, costMicros: answer.costMicros };
}

/** The hash of the plan, which is approved and no other. */
export function planHashOf(plan: readonly PlannedStep[]): string {
  return hashOf(plan);
}

/** The plan of a prompt, which needs no model to make it. */
export function planOfOneStep(instruction: string, { agents: [agent] }: Team): PlannedStep[] {
  return [{ id: idOf(1), agent: agent?.name ?? '', instruction, tools: agent?.tools ?? [], needs: [] }];
}

export function modelOf(agent: Agent | undefined): string {
  return agent?.model ?? 'default';
}

function promptOf(goal: string, { order, agents }: Team): string {
  const lines = agents.map(
    ({ name, instructions, tools }) =>
      `- ${name}: ${instructions || 'does what is asked'} (tools: ${tools.join(', ') || 'none'})`,
  );
  return [
    'Write a plan of few steps that reaches the goal. Each step is done by one agent, who reads its instruction and the results of the steps that it needs, and may call the tools that the step lists.',
    `Agents:\n${lines.join('\n')}`,
    `They work ${order === 'parallel' ? 'side by side' : order === 'sequence' ? 'one after the other' : 'under the first one, which ends the work'}.`,
    `Goal: ${goal}`,
  ].join('\n\n');
}

function schemaOf({ agents }: Team): object {
  const tools = [...new Set(agents.flatMap((agent) => agent.tools))];
  const text = { type: 'string', maxLength: MAX_INSTRUCTION };
  const step = {
    type: 'object',
    properties: {
      agent: { type: 'string', enum: agents.map(({ name }) => name) },
      instruction: { ...text, minLength: 1 },
      tools:
        tools.length === 0
          ? { type: 'array', items: text, maxItems: 0 }
          : { type: 'array', items: { type: 'string', enum: tools }, maxItems: 16 },
      needs: { type: 'array', items: { type: 'integer', minimum: 1, maximum: MAX_STEPS }, maxItems: MAX_STEPS },
    },
    required: ['agent', 'instruction', 'tools', 'needs'],
    additionalProperties: false,
  };
  return {
    type: 'object',
    properties: { steps: { type: 'array', items: step, minItems: 1, maxItems: MAX_STEPS } },
    required: ['steps'],
    additionalProperties: false,
  };
}

function writtenSteps(text: string): WrittenStep[] {
  try {
    const { steps } = JSON.parse(text) as { steps: WrittenStep[] };
    if (Array.isArray(steps) && steps.length > 0 && steps.length <= MAX_STEPS) return steps;
  } catch {
    // The sentence below says what went wrong.
  }
  throw swarmError('plan_failed', 'The model wrote no plan: it has to be one that holds to a JSON schema.');
}

/** Steps have the ids s1, s2 and so on. What a step needs lies before it, so that no plan waits for itself. */
function ordered({ order, agents }: Team, written: readonly WrittenStep[]): PlannedStep[] {
  return written.map(({ agent, instruction, tools, needs }, i): PlannedStep => {
    const own = agents.find(({ name }) => name === agent) ?? agents[0];
    const before = [...new Set(needs)].filter((n) => Number.isInteger(n) && n >= 1 && n <= i).map(idOf);
    const all = Array.from({ length: i }, (_, k) => idOf(k + 1));
    const isLast = i === written.length - 1;
    const chosen = order === 'sequence' ? all.slice(-1) : order === 'supervisor' && isLast ? all : before;
    return {
      id: idOf(i + 1),
      agent: order === 'supervisor' && isLast ? (agents[0]?.name ?? agent) : (own?.name ?? agent),
      instruction: String(instruction).slice(0, MAX_INSTRUCTION),
      tools: [...new Set(tools)].filter((tool) => own?.tools.includes(tool) === true),
      needs: chosen,
    };
  });
}

function idOf(n: number): string {
  return `s${n}`;
}
