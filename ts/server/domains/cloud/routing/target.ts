/** Where a request for a model may go, and in which order. */
import type { LiveBackend } from '../registry/live-backend.ts';

export interface Target {
  readonly backend: LiveBackend;
  /** The provider's own name. */
  readonly model: string;
  /** The smaller ones come first. */
  readonly priority: number;
  readonly weight: number;
}

export type Strategy = 'priority' | 'weighted' | 'latency' | 'cost';

/** Those of one priority, and those of one name's fallbacks, are a group that is asked before the next one. */
export interface Plan {
  readonly groups: readonly (readonly Target[])[];
  readonly strategy: Strategy;
  /** Names of models of this node that answer when no target does. */
  readonly local: readonly string[];
  /** A second target is asked when the first has said nothing for so long. */
  readonly hedgeMs: number | undefined;
}

export function groupByPriority(targets: readonly Target[]): Target[][] {
  const byPriority = Map.groupBy(targets, ({ priority }) => priority);
  return [...byPriority].sort(([a], [b]) => a - b).map(([, group]) => group);
}

/** Millionths for a typical request; undefined: nobody knows. */
export type CostOfTarget = (target: Target) => number | undefined;

/** `random` is from 0 to below 1. */
export function orderOf(group: readonly Target[], strategy: Strategy, costOf: CostOfTarget, random: () => number): Target[] {
  const shuffled = shuffle(group, random);
  if (strategy === 'latency') return shuffled.sort((a, b) => (a.backend.firstContentMs ?? 0) - (b.backend.firstContentMs ?? 0));
  if (strategy === 'cost') return shuffled.sort((a, b) => (costOf(a) ?? Number.MAX_VALUE) - (costOf(b) ?? Number.MAX_VALUE));
  return shuffled;
}

/** The greater its weight, the more often a target is the first (Efraimidis and Spirakis, 2006). One of weight 0 is the last. */
function shuffle(group: readonly Target[], random: () => number): Target[] {
  if (group.length === 1) return [...group];
  const keyed = group.map((target) => ({ target, key: target.weight > 0 ? random() ** (1 / target.weight) : -1 }));
  return keyed.sort((a, b) => b.key - a.key).map(({ target }) => target);
}
