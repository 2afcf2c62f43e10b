/** Brings passages that add little to better ones behind all others. */
import type { FoundPassage } from './collection.ts';

/** Passages of one page, sheet or slide say much the same; more of them come behind all others. */
const MOST_OF_PAGE = 3;
/** Share of a passage that stands in better ones too, from which on it adds little to them. Neighbours share less than that. */
const MOSTLY_REPEATED = 0.5;

/** `results` best first. None is left out. */
export function diversify<P extends FoundPassage>(results: readonly P[]): P[] {
  const counts = new Map<string, number>();
  const first: P[] = [];
  const rest: P[] = [];
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
function placeOf({ documentNo, page, sheet, slide }: FoundPassage): string | undefined {
  if (page === undefined && sheet === undefined && slide === undefined) return undefined;
  return JSON.stringify([documentNo, page, sheet, slide]);
}

function repeatedShare({ documentNo, start, end }: FoundPassage, chosen: readonly FoundPassage[]): number {
  const shared = chosen
    .filter((other) => other.documentNo === documentNo)
    .reduce((sum, other) => sum + Math.max(0, Math.min(end, other.end) - Math.max(start, other.start)), 0);
  return shared / Math.max(1, end - start);
}
