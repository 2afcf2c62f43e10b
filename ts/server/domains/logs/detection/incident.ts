/** Incidents: alerts of one family of rules about one entity, within a day. Their states, and what leads from one to another. */
import { LEVELS, type Level } from './sigma-rule.ts';

export const INCIDENT_STATES = ['open', 'acknowledged', 'closed'] as const;
export type IncidentState = (typeof INCIDENT_STATES)[number];

export const VERDICTS = ['true_positive', 'false_positive', 'benign'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The next alert behind it is another incident; one that was closed is opened again within it. */
export const INCIDENT_WINDOW_MS = 24 * 3_600_000;

/** A state that is set again may get another verdict. */
const NEXT: Readonly<Record<IncidentState, readonly IncidentState[]>> = {
  open: ['open', 'acknowledged', 'closed'],
  acknowledged: ['acknowledged', 'open', 'closed'],
  closed: ['closed', 'open'],
};

export function mayBecome(from: IncidentState, to: IncidentState): boolean {
  return NEXT[from].includes(to);
}

export function worse(a: Level, b: Level): Level {
  return LEVELS.indexOf(a) >= LEVELS.indexOf(b) ? a : b;
}
