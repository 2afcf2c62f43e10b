/** The newest hits of a search. */
import { MAX_SEARCH_HITS } from '../limits.ts';
import type { Found, SearchVisitor } from '../store/search-store.ts';
import type { SearchQuery, TextRange } from './search-query.ts';
import { snippetOf } from './snippet.ts';

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
