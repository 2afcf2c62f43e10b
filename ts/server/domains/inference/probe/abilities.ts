/** The abilities that a model was measured to have. */
import Type, { type Static } from 'typebox';

const Share = Type.Number({ minimum: 0, maximum: 1 });

/** Each the share of its tasks that was done right; absent: none of them was tried. */
export const Abilities = Type.Object(
  {
    answers: Type.Optional(Share),
    cites: Type.Optional(Share),
    denies: Type.Optional(Share),
    follows_schema: Type.Optional(Share),
    calls_tools: Type.Optional(Share),
    refers: Type.Optional(Share),
    tasks: Type.Integer({ minimum: 0, description: 'How many tasks were tried.' }),
  },
  {
    description:
      'Measured on this node, by tasks with invented names in English and German: answers from passages, cites the right one, says so where they do not tell, follows a schema, calls a tool, and knows what was said the turn before.',
  },
);
export type Abilities = Static<typeof Abilities>;
export type Ability = Exclude<keyof Abilities, 'tasks'>;

/** Fewer tasks than these say nothing of what a model can do. */
const LEAST_TASKS = 12;
/** A quotation is right more often than a model below one of these. */
const LEAST = { answers: 0.75, cites: 0.5, denies: 0.75 } as const;
/** The parameters below which models that were not probed contradict the passages that they are given more often than they answer from them. */
const LEAST_PARAMETERS = 1_000_000_000;

export interface ProbedModel {
  /** The purpose of a demonstration model; undefined for all others. */
  readonly demonstration?: string;
  readonly nParams?: number;
  readonly abilities?: Abilities;
}

/** Whether a model answers from documents in its own words, and not by quotations alone. */
export function answersFromDocuments({ demonstration, nParams, abilities }: ProbedModel): boolean {
  if (demonstration !== undefined) return false;
  if (abilities === undefined || abilities.tasks < LEAST_TASKS) return nParams === undefined || nParams >= LEAST_PARAMETERS;
  return Object.entries(LEAST).every(([name, least]) => (abilities[name as keyof typeof LEAST] ?? 0) >= least);
}
