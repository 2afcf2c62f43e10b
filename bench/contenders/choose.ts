/** Who is measured in a trial: what it names itself, and what `--rival` puts in its rival's place. */
import { UsageError } from '../options.ts';
import type { RunOptions } from '../runner.ts';
import { type ContenderName, type Goal, isBounded, type Phase, type Trial } from '../trial.ts';
import { contenders } from './contenders.ts';

/** Less cannot be told from noise. */
const AS_GOOD = 0.98;
const AS_SMALL = 1.02;

/** One program in the shapes that trials need: `--rival llama-server` means the one that a trial names itself. */
const llamaServers: readonly (ContenderName | undefined)[] = ['llama-server', 'llama-server-start', 'llama-router'];

/** The trial as it will run, so that results name who was measured: beside the rival that was asked for, or beside none. */
export function withRival(trial: Trial, asked: string | undefined): Trial {
  if (asked === undefined || (asked === 'llama-server' && llamaServers.includes(trial.rival))) return trial;
  const { rival: _, ...alone } = trial;
  if (asked === 'none') return alone;
  if (!Object.hasOwn(contenders, asked))
    throw new UsageError(`--rival ${asked}: give none or one of ${Object.keys(contenders).join(', ')}`);
  return { ...alone, rival: asked as ContenderName };
}

const before: Partial<Record<ContenderName, ContenderName>> = { svc: 'svc-before', 'svc-engine': 'svc-engine-before' };

/**
 * The trial as a comparison of two commits: the other checkout is the rival and gets the same load, and nothing that a goal bounds may be
 * worse by more than two hundredths.
 */
export function besideBefore({ ceiling: _, ...trial }: Trial): Trial {
  const { ours = 'svc', phases, goals, name } = trial;
  const rival = before[ours];
  if (rival === undefined)
    throw new UsageError(`--before: ${name} measures ${ours}, which is not compared with another checkout`);
  const same = Object.entries(phases).map(([phase, { forRival: _, ...load }]) => [phase, load as Phase] as const);
  // A figure may have goals beside the rival and beside the ceiling.
  const bounded = new Map(goals.filter(isBounded).map((goal) => [goal.figure, noWorse(goal)]));
  return { ...trial, rival, phases: Object.fromEntries(same), goals: [...bounded.values()] };
}

function noWorse({ figure, unit, atLeast }: Goal): Goal {
  return { figure, unit, against: 'rival', ...(atLeast === undefined ? { atMost: AS_SMALL } : { atLeast: AS_GOOD }) };
}

/** In the order in which they are measured. */
export function chooseContenders({ ours = 'svc', rival, ceiling }: Trial): RunOptions['contenders'] {
  return {
    ours: contenders[ours],
    ...(rival === undefined ? {} : { rival: contenders[rival] }),
    ...(ceiling === undefined ? {} : { ceiling: contenders[ceiling] }),
  };
}
