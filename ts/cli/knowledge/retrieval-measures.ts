/** How well a ranking puts in front what answers a question. */

export interface Place {
  readonly source: string;
  readonly page?: number | undefined;
}

interface Wanted {
  readonly sources: readonly string[];
  /** Empty: any page. */
  readonly pages: readonly number[];
}

/** How the passages of one question were ranked. */
export interface Ranked {
  /** Rank of the first right one, from 1; undefined: none was found. */
  readonly firstRank: number | undefined;
  readonly ndcgAt10: number;
  /** Share of what was wanted among the first hundred. */
  readonly recallAt100: number;
}

/** A citation or passage is right when it is of a wanted document and, where pages are wanted, of one of them. */
export function isWanted({ source, page }: Place, { sources, pages }: Wanted): boolean {
  return sources.includes(source) && (pages.length === 0 || (page !== undefined && pages.includes(page)));
}

/** `found` best first. Several passages of one document, or of one page where pages are wanted, count as the first of them. */
export function rankOf(found: readonly Place[], wanted: Wanted): Ranked {
  const keys = [...new Set(found.map((place) => keyOf(place, wanted)))].slice(0, 100);
  const right = new Set(keysOf(wanted));
  const ranks = keys.flatMap((key, i) => (right.has(key) ? [i + 1] : []));
  const gain = ranks.filter((rank) => rank <= 10).reduce((sum, rank) => sum + discount(rank), 0);
  const ideal = Array.from({ length: Math.min(10, right.size) }, (_, i) => discount(i + 1)).reduce((sum, each) => sum + each, 0);
  return { firstRank: ranks[0], ndcgAt10: gain / ideal, recallAt100: ranks.length / right.size };
}

function keysOf({ sources, pages }: Wanted): string[] {
  return sources.flatMap((source) => (pages.length === 0 ? [source] : pages.map((page) => `${source}\n${page}`)));
}

function keyOf({ source, page }: Place, { pages }: Wanted): string {
  return pages.length === 0 ? source : `${source}\n${page ?? ''}`;
}

function discount(rank: number): number {
  return 1 / Math.log2(rank + 1);
}
