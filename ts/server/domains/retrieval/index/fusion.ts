/**
 * One ranking of two: what the terms say and what the vectors say, each beside its highest for the question, then weighted (a convex
 * combination, which Bruch et al. 2022 found better than ranks alone). Of a model whose cosines nobody has tuned a weight for, ranks alone
 * count (reciprocal rank fusion, Cormack et al. 2009). Terms count as far as they are evidence: a passage in another language shares a name
 * or a number with a question, and would else be first with it.
 */
import { PLAIN_SCALE, type SimilarityScale } from '../embedding/similarity-scale.ts';
import type { LexicalScores } from './lexical-index.ts';
import { TopScores } from './top-scores.ts';
import type { VectorIndex } from './vector-index.ts';

interface FusedHit {
  readonly slot: number;
  /** 0 to 1. */
  readonly score: number;
  /** BM25; 0: no term of the question is there. */
  readonly lexical: number;
  /** Cosine; undefined without vectors. */
  readonly dense: number | undefined;
  readonly coverage: number;
}

interface FusionOptions {
  /** Most hits. */
  readonly k: number;
  /** Of either side, before they are joined. */
  readonly nCandidates: number;
  /** 0: terms alone; 1: vectors alone. Between them it holds where the terms are full evidence. */
  readonly denseWeight: number;
  /** The weight was stated for this question, and holds whatever the terms say. */
  readonly isWeightStated?: boolean | undefined;
  /** By reciprocal ranks in the place of scores, where both sides count. */
  readonly isByRanks?: boolean | undefined;
  /** How cosines are compared; default: as they are. */
  readonly scale?: SimilarityScale | undefined;
  /** Undefined: all may be found. */
  readonly allowed: SlotSet | undefined;
}

/** As Cormack et al. chose it: how little the first ranks differ. */
const RANK_CONSTANT = 60;
/**
 * Share of the question that the best passage by terms has: below the first it is no evidence, from the second on full. Chosen on XQuAD, where
 * nine of ten questions in the language of the passages are above 0.35, and most in another are below 0.2.
 */
const COVERAGE = { none: 0.1, full: 0.5 } as const;
/**
 * The nearest passage is so far before one of many: vectors that all lie alike do not know the question's language, and tell nothing that would
 * count against the terms. Chosen on XQuAD, in cosines of the reference model.
 */
const LEAD = { none: 0.05, full: 0.1 } as const;
const ONE_OF_MANY = 20;
/** Terms count alone where vectors say nothing. */
const LEAST_EVIDENCE = 1e-6;
/** The highest cosine of a question counts as no less, so that the differences of unrelated passages stay small. Of the reference model. */
const LEAST_HIGHEST = 0.2;

interface DenseSide {
  readonly index: VectorIndex;
  readonly query: Float32Array;
}

export function fuse(lexical: LexicalScores, dense: DenseSide | undefined, options: FusionOptions): FusedHit[] {
  const { k, nCandidates, allowed, scale = PLAIN_SCALE } = options;
  const scaled = (cosine: number) => scale.factor * cosine + scale.offset;
  const statedWeight = dense === undefined ? 0 : options.denseWeight;
  const slots = new Set<number>();
  const byTerms = statedWeight < 1 ? bestByTerms(lexical.scores, nCandidates, allowed) : [];
  for (const { id } of byTerms) slots.add(id);
  const byVectors = dense !== undefined && statedWeight > 0 ? dense.index.search(dense.query, nCandidates, allowed?.bits) : [];
  for (const { id } of byVectors) slots.add(id);
  const mostDense = scaled(byVectors[0]?.score ?? 0);
  const lead = mostDense - scaled((byVectors[ONE_OF_MANY] ?? byVectors.at(-1))?.score ?? 0);
  const coverage = lexical.coverage[byTerms[0]?.id ?? -1] ?? 0;
  const evidence = options.isWeightStated ? 1 : evidenceOf(coverage, lead);
  const denseWeight = statedWeight / Math.max(Number.MIN_VALUE, statedWeight + (1 - statedWeight) * evidence);
  const isByRanks = options.isByRanks && statedWeight > 0 && statedWeight < 1;
  const rankScores = isByRanks ? reciprocalRanks(byTerms, byVectors, evidence) : undefined;
  const mostLexical = Math.max(byTerms[0]?.score ?? 0, Number.MIN_VALUE);
  const hits = [...slots].map((slot): FusedHit => {
    const own = lexical.scores[slot] ?? 0;
    const cosine = dense?.index.similarity(dense.query, slot);
    const near = 1 - (mostDense - scaled(cosine ?? 0)) / Math.max(mostDense, LEAST_HIGHEST);
    const ofVectors = denseWeight > 0 ? denseWeight * Math.max(0, Math.min(1, near)) : 0;
    const score = rankScores?.get(slot) ?? (1 - denseWeight) * Math.min(1, own / mostLexical) + ofVectors;
    return { slot, score, lexical: own, dense: cosine, coverage: lexical.coverage[slot] ?? 0 };
  });
  return hits.sort((a, b) => b.score - a.score || a.slot - b.slot).slice(0, k);
}

/** What the terms count beside full evidence, above 0 and up to 1: as much as they cover, and as much as vectors do not tell passages apart. */
function evidenceOf(coverage: number, lead: number): number {
  return Math.max(LEAST_EVIDENCE, shareOf(COVERAGE, coverage), 1 - shareOf(LEAD, lead));
}

function shareOf({ none, full }: { readonly none: number; readonly full: number }, value: number): number {
  return Math.max(0, Math.min(1, (value - none) / (full - none)));
}

interface Ranked {
  readonly id: number;
}

/** By slot, from 0 to 1: 1 is first in both rankings, which have the best first. Terms count as far as they are evidence. */
function reciprocalRanks(byTerms: readonly Ranked[], byVectors: readonly Ranked[], evidence: number): Map<number, number> {
  const scores = new Map<number, number>();
  const most = (1 + evidence) / (RANK_CONSTANT + 1);
  for (const [ranking, weight] of [[byTerms, evidence] as const, [byVectors, 1] as const])
    for (const [i, { id }] of ranking.entries()) scores.set(id, (scores.get(id) ?? 0) + weight / (RANK_CONSTANT + 1 + i) / most);
  return scores;
}

function bestByTerms(scores: Float32Array, k: number, allowed: SlotSet | undefined) {
  const top = new TopScores(k);
  for (let slot = 0; slot < scores.length; slot++) {
    const score = scores[slot] ?? 0;
    if (score > 0 && (allowed === undefined || allowed.has(slot))) top.offer(slot, score);
  }
  return top.take();
}

/** A set of slots, as vector indexes take it: a bit for each. */
export class SlotSet {
  readonly bits: Uint32Array;

  /** Slots are smaller than `size`. */
  constructor(size: number, slots: Iterable<number>) {
    this.bits = new Uint32Array(Math.ceil(size / 32));
    for (const slot of slots) this.bits[slot >>> 5] = (this.bits[slot >>> 5] ?? 0) | (1 << (slot & 31));
  }

  has(slot: number): boolean {
    return ((this.bits[slot >>> 5] ?? 0) & (1 << (slot & 31))) !== 0;
  }
}
