/** The newest hits of a search. */
import { MAX_SEARCH_HITS } from '../limits.ts';
import type { Found, SearchVisitor } from '../store/search-store.ts';
import type { SearchQuery, TextRange } from './search-query.ts';

export interface SearchHit {
  readonly conversationId: string;
  readonly title: string;
  /** Undefined: the title was found. */
  readonly messageId: string | undefined;
  /** Of the message, or `title`. */
  readonly role: string;
  readonly snippet: string;
  readonly matches: readonly TextRange[];
  readonly ts: number;
}

export class HitCollector implements SearchVisitor {
  readonly #query: SearchQuery;
  /** Newest first. */
  readonly hits: SearchHit[] = [];

  constructor(query: SearchQuery) {
    this.#query = query;
  }

  hasEnough(latest: number): boolean {
    const last = this.hits[MAX_SEARCH_HITS - 1];
    return last !== undefined && last.ts >= latest;
  }

  found({ conversationId, title, message, ts }: Found): boolean {
    const text = message?.content ?? title;
    const ranges = this.#query.findIn(text);
    if (ranges === undefined) return false;
    const { text: snippet, matches } = snippetOf(text, ranges);
    const place = this.hits.findIndex((hit) => hit.ts < ts);
    const hit = { conversationId, title, messageId: message?.id, role: message?.role ?? 'title', snippet, matches, ts };
    this.hits.splice(place < 0 ? this.hits.length : place, 0, hit);
    this.hits.splice(MAX_SEARCH_HITS);
    return true;
  }
}

/** A piece of a message around what was found, as plain text on one line. */
interface Snippet {
  /** Begins or ends with U+2026 where text was left out. */
  readonly text: string;
  /** What was found, by its place in `text`. */
  readonly matches: readonly TextRange[];
}

const LENGTH = 200;
const BEFORE = 60;
const ELLIPSIS = '\u2026';
/** Control characters, and those that change the order in which text is shown (Unicode's bidirectional controls). */
const UNSHOWN = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** `ranges` in their order, the first of them decides. */
export function snippetOf(text: string, ranges: readonly TextRange[]): Snippet {
  const first = ranges[0]?.start ?? 0;
  const start = betweenCharacters(text, Math.max(0, Math.min(first - BEFORE, text.length - LENGTH)));
  const end = betweenCharacters(text, Math.min(text.length, start + LENGTH));
  const before = start > 0 ? ELLIPSIS : '';
  const shift = before.length - start;
  const matches = ranges
    .filter((range) => range.start < end && range.start >= start)
    .map((range) => ({ start: range.start + shift, end: Math.min(range.end, end) + shift }));
  const shown = text.slice(start, end).replace(UNSHOWN, ' ');
  return { text: `${before}${shown}${end < text.length ? ELLIPSIS : ''}`, matches };
}

/** Half of a surrogate pair is no character. */
function betweenCharacters(text: string, at: number): number {
  const isInside = /[\udc00-\udfff]/.test(text.charAt(at)) && /[\ud800-\udbff]/.test(text.charAt(at - 1));
  return isInside ? at - 1 : at;
}
