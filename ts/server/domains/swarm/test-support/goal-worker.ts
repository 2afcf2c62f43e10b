/**
 * A node that is made to be killed: it sets goals of ten steps, whose calls read, write, or ask first, gives the approvals and resolves steps that are
 * unknown, and prints a JSON line for each thing that happened. Usage: node goal-worker.ts URL NODE GOALS. When its stdin ends, it goes on until no goal
 * is open, says what became of all, and ends.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { SeededRandom } from '../../../../../models/random/seeded-random.ts';
import { callerOf } from '../../edge/test-support/edge-bed.ts';
import { ann, openGoals, plan } from './goal-bed.ts';

export interface GoalLine {
  /** Microseconds by a clock that all processes of the machine share. */
  at: number;
  set?: string;
  /** A model has answered for the goal. */
  answered?: string;
  /** A step whose call was made, as `goal step`; `told`: its model was asked with the result. */
  did?: string;
  told?: string;
  unknown?: string;
  ended?: { mark: string; state: string; tokens: number; steps: readonly string[] };
  approval?: { state: string; text: string };
}

/** Tokens of one answer in the bed. */
export const TOKENS_OF_ANSWER = 10;
export const N_STEPS = 10;
/** The tools by the number of a step: they read, are allowed to write, or ask. */
const KINDS = ['test.read', 'test.write', 'test.destroy'] as const;
/** A call takes so long at most. */
export const CALL_MS = 4;
const LOOK_MS = 25;
const LEASE_MS = 2_000;
/** So many calls may wait for approval that each open goal has one. */
const MOST_OPEN = 50;

export function kindOf(step: number): (typeof KINDS)[number] {
  return KINDS[step % KINDS.length] ?? 'test.read';
}

if (process.argv[1] === import.meta.filename) await work();

async function work(): Promise<void> {
  const [, , url = '', node = '', nGoals = '0'] = process.argv;
  const random = new SeededRandom(Number(process.env['SVC_TEST_SEED'] ?? 0));
  const admin = callerOf('usr_admin', 'admin');
  const say = (line: Omit<GoalLine, 'at'>): void => {
    process.stdout.write(`${JSON.stringify({ ...line, at: Number(process.hrtime.bigint() / 1000n) })}\n`);
  };
  const teardowns: (() => unknown)[] = [];
  const t = { teardown: (each: () => unknown) => void teardowns.push(each) } as unknown as Test;
  const steps = Array.from({ length: N_STEPS }, (_, i) => i + 1);
  const script = {
    plan: (prompt: string) => {
      const mark = /Goal: (\S+)/.exec(prompt)?.[1] ?? '';
      say({ answered: mark });
      return plan(
        ...steps.map((step) => ({ instruction: `${mark} ${step}`, tools: [kindOf(step)], needs: step === 1 ? [] : [step - 1] })),
      );
    },
    say: (instruction: string, results: readonly string[]) => {
      const [mark = '', step = ''] = instruction.split(' ');
      if (results.length > 0) say({ told: instruction });
      say({ answered: mark });
      const name = kindOf(Number(step)).replace('.', '_');
      return results.length > 0 ? { content: 'done' } : { calls: [{ id: `c${step}`, name, args: { text: instruction } }] };
    },
    onCall: async (text: string) => {
      say({ did: text });
      await wait(random.next() * CALL_MS);
    },
  };
  const bed = await openGoals(t, url, script, new Set(), { nodeId: () => node, leaseMs: LEASE_MS });
  await bed.setPolicy(admin, { rules: [{ tools: ['test.write'], decision: 'allow' }] });
  let isEnding = false;
  let nSet = 0;
  process.stdin.resume();
  process.stdin.once('end', () => {
    isEnding = true;
  });
  const setGoal = async (): Promise<void> => {
    const mark = `${node}-${Date.now()}-${nSet}`;
    await bed.make(ann, { goal: mark, tools: [...KINDS], until: 'execute' });
    say({ set: mark });
    nSet += 1;
  };
  const listed = async () =>
    (await bed.ask(ann, 'GET', '?limit=1000')).body.data as { id: string; state: string; goal: string }[];
  const isOpen = ({ state }: { state: string }): boolean => !['done', 'failed', 'cancelled', 'stopped'].includes(state);
  for (;;) {
    const nOpen = (await listed()).filter(isOpen).length;
    if (nSet < Number(nGoals) && nOpen < MOST_OPEN) await setGoal();
    const pending = (await bed.api('GET', '/api/v1/security/approvals?state=pending&limit=1000', admin)).body.data as {
      id: string;
    }[];
    for (const { id } of pending) await bed.decide(admin, id, { decision: 'approve' });
    const goals = await listed();
    for (const { id, goal } of goals.filter(({ state }) => state === 'waiting')) {
      const { plan: planned } = (await bed.ask(ann, 'GET', `/${id}`)).body;
      for (const step of planned.steps.filter(({ state }: { state: string }) => state === 'unknown')) {
        say({ unknown: `${goal} ${step.id.slice(1)}` });
        await bed.ask(ann, 'POST', `/${id}/steps/${step.id}/resolve`, { outcome: 'done' });
      }
    }
    if (isEnding && nSet === Number(nGoals) && !goals.some(isOpen)) break;
    await wait(LOOK_MS);
  }
  for (const { id } of await listed()) {
    const { goal, state, used, plan: planned } = (await bed.ask(ann, 'GET', `/${id}`)).body;
    const states = planned.steps.map((step: { state: string }) => step.state);
    say({ ended: { mark: goal, state, tokens: used.tokens, steps: states } });
  }
  for (let after = ''; ; ) {
    const { data, next } = (await bed.api('GET', `/api/v1/security/approvals?limit=1000${after}`, admin)).body;
    for (const { state, arguments: given } of data) say({ approval: { state, text: given.text } });
    if (next === undefined) break;
    after = `&after=${next}`;
  }
  for (const teardown of teardowns.toReversed()) await teardown();
}
