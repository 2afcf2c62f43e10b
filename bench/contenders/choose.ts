/** Who is measured in a trial: what it names itself, and what `--rival` puts in its rival's place. */
import { UsageError } from '../options.ts';
import type { RunOptions } from '../runner.ts';
import type { ContenderName, Trial } from '../trial.ts';
import { contenders } from './contenders.ts';

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

/** In the order in which they are measured. */
export function chooseContenders({ ours = 'svc', rival, ceiling }: Trial): RunOptions['contenders'] {
  return {
    ours: contenders[ours],
    ...(rival === undefined ? {} : { rival: contenders[rival] }),
    ...(ceiling === undefined ? {} : { ceiling: contenders[ceiling] }),
  };
}
