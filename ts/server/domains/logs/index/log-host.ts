/** A thread of collected logs answers what it is asked. */
import { IndexedCopy } from './indexed-copy.ts';
import type { LogOperation, LogOperations, LogThreadReply, LogThreadRequest, TailNotice } from './log-messages.ts';
import { filterTerms, matcherOf, parseQuery, QueryError } from './query.ts';
import { LogSearcher } from './search.ts';
import { Tail } from './tail.ts';

/** The time of indexing before other questions are looked at. */
const BUDGET_MS = 1_000;

type Answers = { [O in LogOperation]: (input: LogOperations[O]['input'], id: number) => Promise<LogOperations[O]['output']> };

export class LogHost {
  readonly #indexed: IndexedCopy;
  readonly #searcher: LogSearcher;
  readonly #tail: Tail;
  /** Searches that run, by their id. */
  readonly #searches = new Map<number, { isCancelled: boolean }>();

  #last: Promise<unknown> = Promise.resolve();

  constructor(folder: string, send: (notice: TailNotice) => void) {
    this.#indexed = new IndexedCopy(folder);
    this.#searcher = new LogSearcher(folder);
    this.#tail = new Tail(send);
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

  readonly #answers: Answers = {
    advance: ({ copy }) => this.#inTurn(() => this.#indexed.advance(copy, BUDGET_MS)),
    rebuild: () =>
      this.#inTurn(async () => {
        await this.#indexed.rebuild();
        return null;
      }),
    search: async ({ copy, q, filters, request }, id) => {
      const matcher = matcherOf([...parseQuery(q), ...filterTerms(filters)]);
      const state = { isCancelled: false };
      this.#searches.set(id, state);
      try {
        return await this.#searcher.search(copy, request, matcher, () => state.isCancelled);
      } finally {
        this.#searches.delete(id);
      }
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
