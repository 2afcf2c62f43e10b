/** A thread of collected logs answers what it is asked. */
import { join } from 'node:path';
import { ClickHouseLines } from './clickhouse.ts';
import { IndexedCopy } from './indexed-copy.ts';
import type { LogOperation, LogOperations, LogThreadReply, LogThreadRequest, TailNotice } from './log-messages.ts';
import { type Filters, filterTerms, type Matcher, matcherOf, parseQuery, QueryError } from './query.ts';
import { type Found, LogSearcher, type SearchRequest } from './search.ts';
import { ShippedLines } from './shipped-lines.ts';
import { Tail } from './tail.ts';

/** The time of indexing before other questions are looked at. */
const BUDGET_MS = 1_000;

type Answers = { [O in LogOperation]: (input: LogOperations[O]['input'], id: number) => Promise<LogOperations[O]['output']> };

export class LogHost {
  readonly #indexed: IndexedCopy;
  readonly #searcher: LogSearcher;
  readonly #tail: Tail;
  /** Undefined: there is no store beside the files. */
  readonly #store: { lines: ClickHouseLines; shipped: ShippedLines } | undefined;
  /** Searches that run, by their id. */
  readonly #searches = new Map<number, { isCancelled: boolean }>();

  #last: Promise<unknown> = Promise.resolve();

  constructor(folder: string, storeUrl: string, send: (notice: TailNotice) => void) {
    this.#indexed = new IndexedCopy(folder);
    this.#searcher = new LogSearcher(folder);
    this.#tail = new Tail(send);
    const lines = storeUrl === '' ? undefined : new ClickHouseLines(storeUrl);
    this.#store = lines && { lines, shipped: new ShippedLines(join(folder, 'store.json'), lines) };
  }

  async answer({ id, operation, input }: LogThreadRequest): Promise<LogThreadReply> {
    try {
      const answer = this.#answers[operation] as (input: unknown, id: number) => Promise<unknown>;
      return { id, output: await answer(input, id) };
    } catch (error) {
      const failure = (error as Error).message;
      return error instanceof QueryError ? { id, failure, position: error.position } : { id, failure };
    }
  }

  /** Work that changes the index runs one after the other. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.catch(() => undefined).then(work);
    this.#last = done;
    return done;
  }

  get #stored() {
    if (this.#store === undefined) throw new TypeError('there is no store');
    return this.#store;
  }

  async #search(
    id: number,
    q: string,
    filters: Filters,
    { timeLimitMs }: SearchRequest,
    run: (matcher: Matcher, isOver: () => boolean) => Promise<Found>,
  ): Promise<Found> {
    const matcher = matcherOf([...parseQuery(q), ...filterTerms(filters)]);
    const state = { isCancelled: false };
    this.#searches.set(id, state);
    const deadline = performance.now() + timeLimitMs;
    try {
      return await run(matcher, () => state.isCancelled || performance.now() > deadline);
    } finally {
      this.#searches.delete(id);
    }
  }

  readonly #answers: Answers = {
    advance: ({ copy }) => this.#inTurn(() => this.#indexed.advance(copy, BUDGET_MS)),
    rebuild: () =>
      this.#inTurn(async () => {
        await this.#indexed.rebuild();
        return null;
      }),
    search: ({ copy, q, filters, request }, id) =>
      this.#search(id, q, filters, request, (matcher, isOver) => this.#searcher.search(copy, request, matcher, isOver)),
    ship: ({ copy, nowMs }) => this.#inTurn(() => this.#stored.shipped.advance(copy, nowMs, BUDGET_MS)),
    migrate: ({ nowMs }) =>
      this.#inTurn(async () => {
        await this.#stored.shipped.migrate(nowMs);
        return null;
      }),
    searchStore: async ({ copy, q, filters, request }, id) => {
      const { lines, shipped } = this.#stored;
      if (!(await shipped.covers(copy, request))) return null;
      return await this.#search(id, q, filters, request, (matcher, isOver) => lines.search(request, matcher, isOver));
    },
    cancel: async ({ search }) => {
      const state = this.#searches.get(search);
      if (state !== undefined) state.isCancelled = true;
      return null;
    },
    follow: async ({ tail, copy, request }) => {
      await this.#tail.follow(tail, copy, request);
      return null;
    },
    followCopy: async ({ copy }) => {
      await this.#tail.followCopy(copy);
      return null;
    },
    unfollow: async ({ tail }) => {
      this.#tail.unfollow(tail);
      return null;
    },
  };
}
