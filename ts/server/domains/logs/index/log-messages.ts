/** Messages between the server and its two threads of collected logs. */

import type { IndexState } from './indexed-copy.ts';
import type { LogLine, TimedLine } from './log-line.ts';
import type { Filters } from './query.ts';
import type { Copy, Found, SearchRequest } from './search.ts';
import type { SenderRule } from './sender-rule.ts';
import type { ShipState } from './shipped-lines.ts';

/** Names the lines that a client follows. */
export interface TailRequest {
  q: string;
  filters: Filters;
  classes: readonly string[] | undefined;
  senders: SenderRule | undefined;
  /** Begins behind this event of before, where that is still known. */
  lastId: string | undefined;
}

export interface LogOperations {
  /** Indexes for a while. */
  advance: { input: { copy: Copy }; output: IndexState };
  rebuild: { input: Record<string, never>; output: null };
  search: { input: { copy: Copy; q: string; filters: Filters; request: SearchRequest }; output: Found };
  /** Sends lines to the store for a while. */
  ship: { input: { copy: Copy; nowMs: number }; output: ShipState };
  migrate: { input: { nowMs: number }; output: null };
  /** The same search in the store; null: it does not have all hours. */
  searchStore: { input: { copy: Copy; q: string; filters: Filters; request: SearchRequest }; output: Found | null };
  /** The client is gone. */
  cancel: { input: { search: number }; output: null };
  follow: { input: { tail: number; copy: Copy; request: TailRequest }; output: null };
  /** Another copy is read from now on. */
  followCopy: { input: { copy: Copy }; output: null };
  unfollow: { input: { tail: number }; output: null };
}

export type LogOperation = keyof LogOperations;

export interface LogThreadRequest {
  id: number;
  operation: LogOperation;
  input: unknown;
}

export interface LogThreadFailure {
  failure: string;
  /** The place of the fault in a query, from 0. */
  position?: number;
}

export type LogThreadReply = { id: number } & (LogThreadFailure | { output: unknown });

/** Lines for one client, and how many were left out before them; null: nobody counted. */
export interface TailNotice {
  tail: number;
  events: readonly { id: string; line: LogLine; source: TimedLine['source'] }[];
  missed: number | null;
}
