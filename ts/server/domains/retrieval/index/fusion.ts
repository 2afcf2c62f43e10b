/**
 * One ranking of two: what the terms say and what the vectors say, each divided by its highest for the question, then weighted (a convex
 * combination, which Bruch et al. 2022 found better than ranks alone). Of a model whose cosines nobody has tuned a weight for, ranks alone
 * count (reciprocal rank fusion, Cormack et al. 2009).
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
  /** 0: terms alone; 1: vectors alone. */
  readonly denseWeight: number;
  /** By reciprocal ranks in the place of scores, where both sides count. */
  readonly isByRanks?: boolean | undefined;
  /** How cosines are compared; default: as they are. */
  readonly scale?: SimilarityScale | undefined;
  /** Undefined: all may be found. */
  readonly allowed: SlotSet | undefined;
}

/** As Cormack et al. chose it: how little the first ranks differ. */
const RANK_CONSTANT = 60;

interface DenseSide {
  readonly index: VectorIndex;
  readonly query: Float32Array;
}

export function fuse(lexical: LexicalScores, dense: DenseSide | undefined, options: FusionOptions): FusedHit[] {
  const { k, nCandidates, allowed, scale = PLAIN_SCALE } = options;
  const scaled = (cosine: number) => scale.factor * cosine + scale.offset;
  const denseWeight = dense === undefined ? 0 : options.denseWeight;
  const slots = new Set<number>();
  const byTerms = denseWeight < 1 ? bestByTerms(lexical.scores, nCandidates, allowed) : [];
  for (const { id } of byTerms) slots.add(id);
  const byVectors = dense !== undefined && denseWeight > 0 ? dense.index.search(dense.query, nCandidates, allowed?.bits) : [];
  for (const { id } of byVectors) slots.add(id);
  const isByRanks = options.isByRanks && denseWeight > 0 && denseWeight < 1;
  const rankScores = isByRanks ? reciprocalRanks([byTerms, byVectors]) : undefined;
  const mostLexical = Math.max(byTerms[0]?.score ?? 0, Number.MIN_VALUE);
  const mostDense = Math.max(scaled(byVectors[0]?.score ?? 0), Number.MIN_VALUE);
  const hits = [...slots].map((slot): FusedHit => {
    const own = lexical.scores[slot] ?? 0;
    const cosine = dense?.index.similarity(dense.query, slot);
    const near = denseWeight > 0 ? Math.max(0, scaled(cosine ?? 0)) / mostDense : 0;
    const convex = (1 - denseWeight) * Math.min(1, own / mostLexical) + denseWeight * Math.min(1, near);
    const score = rankScores?.get(slot) ?? convex;
    return { slot, score, lexical: own, dense: cosine, coverage: lexical.coverage[slot] ?? 0 };
  });
  return hits.sort((a, b) => b.score - a.score || a.slot - b.slot).slice(0, k);
}

/** By slot, from 0 to 1: 1 is first in both rankings, which have the best first. */
function reciprocalRanks(rankings: readonly (readonly { readonly id: number }[])[]): Map<number, number> {
  const scores = new Map<number, number>();
  const most = rankings.length / (RANK_CONSTANT + 1);
  for (const ranking of rankings)
    for (const [i, { id }] of ranking.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (RANK_CONSTANT + 1 + i) / most);
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
