/** A passage that answers a question, with how well. */
import type { FoundChunk } from '../knowledge-base.ts';

export interface PassageResult extends FoundChunk {
  readonly namespace: string;
  /** 0 to 1, the higher the better; comparable within one search. */
  readonly score: number;
  /** BM25. */
  readonly lexicalScore: number;
  /** Cosine; undefined where vectors did not count. */
  readonly denseScore: number | undefined;
  /** 0 to 1: how sure it is that the passage is about the question at all; comparable between searches. */
  readonly relevance: number;
}

/** Neighbours of one page say much the same; more of them come behind all others. */
const MOST_OF_PAGE = 3;

/** `results` best first. None is left out. */
export function diversified(results: readonly PassageResult[]): PassageResult[] {
  const counts = new Map<string, number>();
  const first: PassageResult[] = [];
  const rest: PassageResult[] = [];
  for (const result of results) {
    const { documentNo, page, sheet, slide } = result;
    const place = JSON.stringify([documentNo, page, sheet, slide]);
    const n = (counts.get(place) ?? 0) + 1;
    counts.set(place, n);
    (n <= MOST_OF_PAGE ? first : rest).push(result);
  }
  return [...first, ...rest];
}
