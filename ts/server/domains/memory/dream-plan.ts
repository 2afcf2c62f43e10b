/**
 * Plans what a dream changes: pure steps from memories to changes, of which nothing is applied yet. What a person pinned or worded is in no change. A step
 * sees the memories as the steps before it leave them.
 */
import type { Memory, MemoryKind } from './memory.ts';
import { readStatement, wordingOf } from './statement.ts';

export const DREAM_STEPS = ['duplicates', 'contradictions', 'summaries', 'decay', 'archive', 'slots'] as const;
export type DreamStep = (typeof DREAM_STEPS)[number];

export interface DreamOptions {
  /** The least cosine of two memories that are to be one, 0 to 1. */
  readonly similarity: number;
  /** Days after which a memory that nobody recalls is half as strong. */
  readonly halfLifeDays: number;
}

/** The members of a memory that a dream may change. */
export type DreamtMembers = Pick<Memory, 'state' | 'supersededBy' | 'validTo' | 'strength' | 'origins' | 'decayedAt'>;

interface PlannedChange {
  readonly memory: Memory;
  readonly action: 'merged' | 'joined' | 'superseded' | 'summarised' | 'faded' | 'archived';
  readonly after: Partial<DreamtMembers>;
  readonly reason: string;
  /** 0 to 1: how sure it is. */
  readonly score: number;
}

/** A memory that is made of others, which `supersededBy` of their changes stands for as undefined until it has an id. */
export interface PlannedSummary {
  readonly text: string;
  readonly kind: MemoryKind;
  readonly validFrom: number;
  readonly of: readonly PlannedChange[];
}

/** Changes that are made together or not at all. */
export interface PlannedUnit {
  readonly changes: readonly PlannedChange[];
  readonly summary?: PlannedSummary;
}

/** A memory with its vector. */
export interface DreamtMemory {
  readonly memory: Memory;
  readonly embedding: Float32Array;
}

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** A weaker memory is archived. */
const LEAST_STRENGTH = 0.05;
const MOST_ORIGINS = 20;
const MOST_SUMMARY = 1_000;

export function planStep(step: DreamStep, memories: readonly DreamtMemory[], options: DreamOptions, now: number): PlannedUnit[] {
  const current = memories.filter(({ memory }) => memory.state === 'current');
  switch (step) {
    case 'duplicates':
      return planDuplicates(current, options.similarity);
    case 'contradictions':
      return planContradictions(current);
    case 'summaries':
      return planSummaries(current, now);
    case 'decay':
      return planDecay(current, options.halfLifeDays, now);
    case 'archive':
      return planArchive(current);
    // They are learned of memories, and change none.
    case 'slots':
      return [];
  }
}

/** Says which part of a step is left undone without a model; undefined: none. */
export function skippedWithoutModel(step: DreamStep): string | undefined {
  if (step === 'contradictions') return 'Contradictions that no rule reads were left, since no model judges them.';
  if (step === 'summaries') return 'Summaries list what the episodes say, since no model words them.';
  return undefined;
}

function isProtected({ isPinned, isEdited }: Memory): boolean {
  return isPinned || isEdited;
}

function isImported({ trust }: Memory): boolean {
  return trust === 'imported';
}

function planDuplicates(memories: readonly DreamtMemory[], similarity: number): PlannedUnit[] {
  return groupsOf(memories, ({ memory }) => duplicateKey(memory)).flatMap((group) => {
    const [keeper, ...others] = [...group].sort(
      (a, b) =>
        Number(isProtected(b.memory)) - Number(isProtected(a.memory)) ||
        Number(isImported(a.memory)) - Number(isImported(b.memory)) ||
        a.memory.no - b.memory.no,
    );
    if (keeper === undefined) return [];
    const merged = others.filter(
      ({ memory, embedding }) => !isProtected(memory) && cosine(embedding, keeper.embedding) >= similarity,
    );
    if (merged.length === 0) return [];
    const ended = merged.map(({ memory, embedding }) => ({
      memory,
      action: 'merged' as const,
      after: { state: 'superseded' as const, supersededBy: keeper.memory.id },
      reason: 'Another memory says the same.',
      score: Math.min(1, cosine(embedding, keeper.embedding)),
    }));
    return [{ changes: isProtected(keeper.memory) ? ended : [...ended, joined(keeper.memory, merged)] }];
  });
}

/** All origins go to the memory that stays. */
function joined(memory: Memory, others: readonly DreamtMemory[]): PlannedChange {
  const origins = [memory, ...others.map((other) => other.memory)].flatMap((one) => one.origins).slice(0, MOST_ORIGINS);
  const strength = others.reduce((sum, other) => sum + other.memory.strength, memory.strength);
  return {
    memory,
    action: 'joined',
    after: { origins, strength },
    reason: 'It has what others said that were the same.',
    score: 1,
  };
}

/** The same for memories that say the same in other words or another order, of the same names and numbers. */
function duplicateKey({ kind, text, subject }: Memory): string {
  const { attribute, value } = readStatement(text, subject);
  const said = attribute === undefined ? wordingOf(text, subject) : [attribute, value];
  return JSON.stringify([kind, said]);
}

function planContradictions(memories: readonly DreamtMemory[]): PlannedUnit[] {
  const stated = memories.flatMap(({ memory }) => {
    const { attribute, value } = readStatement(memory.text, memory.subject);
    return attribute === undefined ? [] : [{ memory, attribute, value }];
  });
  return groupsOf(stated, ({ attribute }) => attribute).flatMap((group) => {
    // Whatever a person said holds over what a file said, whenever that was.
    const ordered = [...group].sort(
      (a, b) =>
        Number(isImported(b.memory)) - Number(isImported(a.memory)) ||
        a.memory.validFrom - b.memory.validFrom ||
        a.memory.no - b.memory.no,
    );
    return ordered.flatMap(({ memory, value }, i) => {
      const next = ordered.slice(i + 1).find((later) => later.value !== value);
      if (next === undefined || isProtected(memory)) return [];
      const after = {
        state: 'superseded' as const,
        supersededBy: next.memory.id,
        validTo: Math.max(memory.validFrom, next.memory.validFrom),
      };
      const reason = 'A statement about the same subject and attribute holds later.';
      return [{ changes: [{ memory, action: 'superseded' as const, after, reason, score: 1 }] }];
    });
  });
}

/** One for each week that is over and has several episodes. */
function planSummaries(memories: readonly DreamtMemory[], now: number): PlannedUnit[] {
  const episodes = memories
    .map(({ memory }) => memory)
    .filter((memory) => memory.kind === 'episode' && !isProtected(memory) && weekOf(memory.validFrom) + WEEK_MS <= now);
  return groupsOf(episodes, ({ validFrom, subject }) => JSON.stringify([weekOf(validFrom), subject])).flatMap((group) => {
    const ordered = [...group].sort((a, b) => a.validFrom - b.validFrom || a.no - b.no);
    const validFrom = weekOf(ordered[0]?.validFrom ?? 0);
    const head = `${day(validFrom)} – ${day(validFrom + WEEK_MS - DAY_MS)}:`;
    let text = head;
    const taken = ordered.filter((episode) => {
      const longer = `${text}${text === head ? ' ' : '; '}${episode.text.replace(/(?<![.;\s])[.;\s]+$/, '')}`;
      if (longer.length > MOST_SUMMARY) return false;
      text = longer;
      return true;
    });
    if (taken.length < 2) return [];
    const of = taken.map((memory) => ({
      memory,
      action: 'summarised' as const,
      after: { state: 'archived' as const },
      reason: 'It is a part of the summary of its week.',
      score: 1,
    }));
    return [{ changes: of, summary: { text, kind: 'summary' as const, validFrom, of } }];
  });
}

/** Counts from the last recall or the last dream that did it, so that a step that is repeated changes nothing. */
function planDecay(memories: readonly DreamtMemory[], halfLifeDays: number, now: number): PlannedUnit[] {
  return memories.flatMap(({ memory }) => {
    const since = Math.max(memory.recordedAt, memory.decayedAt ?? 0, memory.recalledAt ?? 0);
    const days = Math.floor((now - since) / DAY_MS);
    if (days < 1 || isProtected(memory)) return [];
    const strength = memory.strength * 0.5 ** (days / halfLifeDays);
    const after = { strength, decayedAt: since + days * DAY_MS };
    return [{ changes: [{ memory, action: 'faded' as const, after, reason: `Nobody recalled it for ${days} days.`, score: 1 }] }];
  });
}

function planArchive(memories: readonly DreamtMemory[]): PlannedUnit[] {
  return memories
    .filter(({ memory }) => memory.strength < LEAST_STRENGTH && !isProtected(memory))
    .map(({ memory }) => {
      const after = { state: 'archived' as const };
      return { changes: [{ memory, action: 'archived' as const, after, reason: 'It has faded.', score: 1 - memory.strength }] };
    });
}

/** The memories as they are after these units, for the step that follows. */
export function afterUnits(memories: readonly DreamtMemory[], units: readonly PlannedUnit[]): DreamtMemory[] {
  const after = new Map(units.flatMap(({ changes }) => changes.map((change) => [change.memory.id, change.after] as const)));
  return memories.map(({ memory, embedding }) => ({ memory: { ...memory, ...after.get(memory.id) }, embedding }));
}

/** Those with more than one. */
function groupsOf<T>(values: readonly T[], keyOf: (value: T) => string): T[][] {
  return [...Map.groupBy(values, keyOf).values()].filter((group) => group.length > 1);
}

function cosine(a: Float32Array, b: Float32Array): number {
  let product = 0;
  for (let i = 0; i < a.length; i++) product += (a[i] ?? 0) * (b[i] ?? 0);
  return product;
}

/** Monday, at midnight UTC; the first day of 1970 was a Thursday. */
function weekOf(at: number): number {
  const sinceMonday = (((at + 3 * DAY_MS) % WEEK_MS) + WEEK_MS) % WEEK_MS;
  return at - sinceMonday;
}

function day(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
