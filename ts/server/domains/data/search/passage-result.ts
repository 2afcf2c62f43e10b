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

/** Passages of one page, sheet or slide say much the same; more of them come behind all others. */
const MOST_OF_PAGE = 3;
/** Share of a passage that stands in better ones too, from which on it adds little to them. Neighbours share less than that. */
const MOSTLY_REPEATED = 0.5;

/** `results` best first. None is left out. */
export function diversified(results: readonly PassageResult[]): PassageResult[] {
  const counts = new Map<string, number>();
  const first: PassageResult[] = [];
  const rest: PassageResult[] = [];
  for (const result of results) {
    const place = placeOf(result);
    const isCrowded = place !== undefined && (counts.get(place) ?? 0) >= MOST_OF_PAGE;
    if (isCrowded || repeatedShare(result, first) >= MOSTLY_REPEATED) {
      rest.push(result);
      continue;
    }
    if (place !== undefined) counts.set(place, (counts.get(place) ?? 0) + 1);
    first.push(result);
  }
  return [...first, ...rest];
}

/** Undefined: the document has neither pages nor sheets nor slides, and is no page itself. */
function placeOf({ documentNo, page, sheet, slide }: PassageResult): string | undefined {
  if (page === undefined && sheet === undefined && slide === undefined) return undefined;
  return JSON.stringify([documentNo, page, sheet, slide]);
}

function repeatedShare({ documentNo, start, end }: PassageResult, chosen: readonly PassageResult[]): number {
  const shared = chosen
    .filter((other) => other.documentNo === documentNo)
    .reduce((sum, other) => sum + Math.max(0, Math.min(end, other.end) - Math.max(start, other.start)), 0);
  return shared / Math.max(1, end - start);
}
