/**
 * Counts what answers hold because their clients do not read: bytes that the sockets have not taken yet. A caller has a share of it, and all callers
 * together a limit; where one is exceeded, the answers are cut that have waited longest without any progress.
 */
import type { Log } from '../../log/log.ts';
import type { Counter, Family } from '../../metrics/metrics.ts';
import type { MetricsRegistry } from '../../metrics/registry.ts';

export interface UnsentLimits {
  readonly ofCaller: number;
  readonly ofAll: number;
}

export const DEFAULT_UNSENT_LIMITS: UnsentLimits = { ofCaller: 64 * 1024 * 1024, ofAll: 256 * 1024 * 1024 };

/** An open answer. */
export interface SlowAnswer {
  readonly requestId: string;
  readonly remoteAddress: string;
  /** Whoever asked; its account, or its address. */
  readonly callerKey: string;
  /** Cuts the connection, after which it holds nothing. */
  cut(): void;
}

interface Held {
  caller: string;
  bytes: number;
}

type LimitName = 'caller' | 'all';

const SETTINGS: Record<LimitName, string> = {
  caller: 'http.max_unsent_bytes_per_caller',
  all: 'http.max_unsent_bytes',
};

export class UnsentBytes {
  readonly #limits: UnsentLimits;
  readonly #log: Log;
  readonly #cuts: Family<Counter>;
  /** Those that hold something; the one without progress for the longest time first. */
  readonly #answers = new Map<SlowAnswer, Held>();
  readonly #callers = new Map<string, number>();
  #bytes = 0;

  constructor(limits: UnsentLimits, log: Log, metrics: MetricsRegistry) {
    this.#limits = limits;
    this.#log = log;
    this.#cuts = metrics.counter(
      'svc_http_slow_answers_cut_total',
      'Answers cut because their clients read too slowly, by limit.',
      ['limit'],
    );
    const unsent = metrics.gauge('svc_http_unsent_bytes', 'Bytes of open answers that their clients have not taken yet.').with();
    metrics.onCollect(() => unsent.set(this.#bytes));
  }

  /** The answer holds so many bytes now. It may be cut before this returns. */
  hold(answer: SlowAnswer, bytes: number): void {
    const before = this.#answers.get(answer);
    if (bytes <= 0) {
      if (before !== undefined) this.#forget(answer, before);
      return;
    }
    const held = before ?? { caller: answer.callerKey, bytes: 0 };
    this.#count(held, bytes);
    // It goes to the end when something of it was taken.
    if (bytes < held.bytes) this.#answers.delete(answer);
    held.bytes = bytes;
    this.#answers.set(answer, held);
    this.#cutOver(held.caller);
  }

  #forget(answer: SlowAnswer, held: Held): void {
    this.#answers.delete(answer);
    this.#count(held, 0);
  }

  #count({ caller, bytes: before }: Held, bytes: number): void {
    this.#bytes += bytes - before;
    const ofCaller = (this.#callers.get(caller) ?? 0) + bytes - before;
    if (ofCaller > 0) this.#callers.set(caller, ofCaller);
    else this.#callers.delete(caller);
  }

  #cutOver(caller: string): void {
    const { ofCaller, ofAll } = this.#limits;
    while ((this.#callers.get(caller) ?? 0) > ofCaller && this.#cutFirst('caller', caller));
    while (this.#bytes > ofAll && this.#cutFirst('all'));
  }

  /** False: nothing is left to cut. An answer that is the only one may be as large as it is. */
  #cutFirst(limit: LimitName, caller?: string): boolean {
    const [first, second] = [...this.#answers].filter(([, held]) => caller === undefined || held.caller === caller);
    if (first === undefined || second === undefined) return false;
    const [answer, held] = first;
    this.#forget(answer, held);
    this.#cuts.with({ limit }).add();
    this.#log.warn('an answer was cut, since its client reads too slowly', {
      id: answer.requestId,
      remote: answer.remoteAddress,
      unsent_bytes: held.bytes,
      exceeded: SETTINGS[limit],
    });
    answer.cut();
    return true;
  }
}
