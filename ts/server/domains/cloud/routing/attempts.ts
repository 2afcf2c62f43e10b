/**
 * Asks one target after the other until one of them says something. Nothing that was said is ever asked for again: what comes after the first
 * content is the caller's.
 */
import type { DomainError } from '../../../platform/errors/domain-error.ts';
import { inferenceErrors } from '../../inference/index.ts';
import { AttemptFailure, clientError } from '../errors.ts';
import type { Refusal } from '../kinds/kind.ts';
import type { Pass } from '../registry/breaker.ts';
import { type CostOfTarget, orderOf, type Plan, type Target } from './target.ts';

const MOST_ATTEMPTS = 4;
/** A wait that is longer is not waited for. */
const MOST_WAIT_MS = 20_000;
/** Before the same backend is asked again; somewhere between the half and the whole of it, and twice as long each time. */
const BACKOFF_MS = 200;

export interface AttemptObserver {
  /** How one attempt ended: ok, or the meaning of its refusal. */
  attempted(target: Target, outcome: string): void;
  opened(target: Target, ms: number): void;
  waited(target: Target, ms: number): void;
  /** The backend is left out from now on. */
  rejected(target: Target, refusal: Refusal): void;
  limited(target: Target, refusal: Refusal): void;
  unreachable(target: Target, refusal: Refusal): void;
}

interface AttemptRequest {
  readonly plan: Plan;
  /** As the client named it. */
  readonly model: string;
  readonly tenant: string;
  readonly nTokens: number;
  /** The backend that is asked first where it works. */
  readonly preferred: string | undefined;
  /** Ends everything, with the error that the client gets. */
  readonly signal: AbortSignal;
}

export interface Opened<T> {
  readonly target: Target;
  readonly value: T;
  readonly nAttempts: number;
  /** The answer is over. Idempotent. */
  release(): void;
}

export interface AttemptsDeps {
  readonly observer: AttemptObserver;
  readonly costOf: CostOfTarget;
  readonly random?: () => number;
}

type Open<T> = (target: Target, signal: AbortSignal) => Promise<T>;

export class Attempts<T> {
  readonly #deps: AttemptsDeps;
  readonly #request: AttemptRequest;
  readonly #open: Open<T>;
  readonly #close: (value: T) => void;
  readonly #failed = new Map<Target, number>();
  readonly #excluded = new Set<string>();
  readonly #order: readonly Target[];
  #nAttempts = 0;
  #turnedAwayAt: number | undefined;
  #last: DomainError | undefined;

  /** @param close ends an answer that another one was faster than. */
  constructor(deps: AttemptsDeps, request: AttemptRequest, open: Open<T>, close: (value: T) => void) {
    this.#deps = deps;
    this.#request = request;
    this.#open = open;
    this.#close = close;
    const { plan, preferred } = request;
    const random = deps.random ?? Math.random;
    const order = plan.groups.flatMap((group) => orderOf(group, plan.strategy, deps.costOf, random));
    const first = order.find(({ backend }) => backend.id === preferred && backend.isReady);
    this.#order = first === undefined ? order : [first, ...order.filter((target) => target !== first)];
  }

  /** Rejects with what the client is told: of the last attempt, or why there was none. */
  async run(): Promise<Opened<T>> {
    while (this.#nAttempts < MOST_ATTEMPTS) {
      this.#request.signal.throwIfAborted();
      const target = this.#next();
      if (target === undefined) break;
      const opened = await this.#hedged(target);
      if (opened !== undefined) return opened;
    }
    throw this.#last ?? this.#unusable();
  }

  /** The first that can be asked at once, those that failed already last; else the one that can be asked first. */
  #next(besides?: Target): Target | undefined {
    const usable = this.#order.filter(
      (target) => target !== besides && target.backend.isReady && !this.#excluded.has(target.backend.id),
    );
    const byFailures = usable.toSorted((a, b) => (this.#failed.get(a) ?? 0) - (this.#failed.get(b) ?? 0));
    const atOnce = byFailures.find((target) => this.#waitMs(target) === 0);
    if (atOnce !== undefined || besides !== undefined) return atOnce;
    const [soonest] = byFailures.toSorted((a, b) => this.#waitMs(a) - this.#waitMs(b));
    if (soonest === undefined) return undefined;
    const waitMs = this.#waitMs(soonest);
    if (waitMs <= MOST_WAIT_MS) return soonest;
    this.#last = this.#takesNoMore(waitMs);
    return undefined;
  }

  #takesNoMore(waitMs: number): DomainError {
    const sentence = `The provider of ${this.#request.model} takes no more requests now; try again in ${Math.ceil(waitMs / 1000)} s.`;
    return inferenceErrors.error('provider_rate_limited', sentence, { retryAfterMs: waitMs });
  }

  #waitMs({ backend, model }: Target): number {
    // A place that is free when another answer ends is worth a short wait.
    const ofPace = backend.pace.waitMs(this.#request.nTokens) ?? 1;
    return Math.max(ofPace, backend.breaker(model).waitMs);
  }

  /** Undefined: it failed, and others may be asked. */
  async #hedged(target: Target): Promise<Opened<T> | undefined> {
    const { hedgeMs } = this.#request.plan;
    if (hedgeMs === undefined) return this.#attempt(target, this.#request.signal);
    const controllers = [new AbortController(), new AbortController()] as const;
    const signals = controllers.map(({ signal }) => AbortSignal.any([signal, this.#request.signal])) as [
      AbortSignal,
      AbortSignal,
    ];
    const first = this.#attempt(target, signals[0]);
    const late = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => late.resolve(undefined), hedgeMs);
    const isFirstOver = await Promise.race([first.then(() => true), late.promise.then(() => false)]).finally(() =>
      clearTimeout(timer),
    );
    const other = isFirstOver || this.#nAttempts >= MOST_ATTEMPTS ? undefined : this.#next(target);
    if (other === undefined) return first;
    const second = this.#attempt(other, signals[1]);
    const won = await firstDefined(first, second);
    for (const [i, attempt] of [first, second].entries()) {
      if (won !== undefined && (await Promise.race([attempt, Promise.resolve(null)])) === won) continue;
      controllers[i]?.abort(LOST);
      void attempt.then((opened) => {
        if (opened === undefined || opened === won) return;
        this.#close(opened.value);
        opened.release();
      }, ignore);
    }
    return won;
  }

  async #attempt(target: Target, signal: AbortSignal): Promise<Opened<T> | undefined> {
    const { tenant, nTokens, model } = this.#request;
    const { observer } = this.#deps;
    const { backend } = target;
    const breaker = backend.breaker(target.model);
    await this.#pause(target, signal);
    const asked = performance.now();
    const release = backend.pace.acquireNow(nTokens) ?? (await waitForPlace(backend, tenant, nTokens, signal));
    if (release === undefined) {
      this.#excluded.add(backend.id);
      this.#last = inferenceErrors.error('queue_full', `Too many requests wait for ${model}; try again later.`, {
        retryAfterMs: 1000,
      });
      return undefined;
    }
    const pass = breaker.take();
    if (pass === undefined) {
      release();
      this.#turnedAway(target);
      return undefined;
    }
    const started = performance.now();
    observer.waited(target, started - asked);
    this.#nAttempts += 1;
    try {
      const value = await this.#open(target, signal);
      breaker.succeeded();
      observer.attempted(target, 'ok');
      observer.opened(target, performance.now() - started);
      return { target, value, nAttempts: this.#nAttempts, release };
    } catch (error) {
      release();
      if (!(error instanceof AttemptFailure)) {
        breaker.giveUp(pass);
        if (error === LOST) return undefined;
        throw error;
      }
      this.#learn(target, pass, error.refusal);
      return undefined;
    }
  }

  /** Another request tries the backend for all: this one waits for what comes of it, and not for ever. */
  #turnedAway({ backend, model }: Target): void {
    this.#turnedAwayAt ??= performance.now();
    if (performance.now() - this.#turnedAwayAt < MOST_WAIT_MS) return;
    this.#excluded.add(backend.id);
    this.#last ??= this.#takesNoMore(backend.breaker(model).waitMs);
  }

  /** Throws what goes to the client at once. */
  #learn(target: Target, pass: Pass, refusal: Refusal): void {
    const { observer } = this.#deps;
    const breaker = target.backend.breaker(target.model);
    this.#failed.set(target, (this.#failed.get(target) ?? 0) + 1);
    this.#last = clientError(refusal, this.#request.model);
    observer.attempted(target, refusal.meaning);
    switch (refusal.meaning) {
      case 'request':
        breaker.giveUp(pass);
        throw this.#last;
      case 'missing':
        breaker.giveUp(pass);
        this.#excluded.add(target.backend.id);
        return;
      case 'credential':
      case 'credit':
        breaker.giveUp(pass);
        this.#excluded.add(target.backend.id);
        observer.rejected(target, refusal);
        return;
      case 'limit':
        breaker.giveUp(pass);
        target.backend.pace.block(refusal.retryAfterMs ?? BACKOFF_MS * 5);
        observer.limited(target, refusal);
        return;
      case 'passing':
        breaker.failed(pass);
        if (refusal.retryAfterMs !== undefined) target.backend.pace.block(refusal.retryAfterMs);
        observer.unreachable(target, refusal);
    }
  }

  /** A backend that is asked again gets a moment, and so does one whose breaker is open. */
  async #pause(target: Target, signal: AbortSignal): Promise<void> {
    const nFailed = this.#failed.get(target) ?? 0;
    const backoffMs = nFailed === 0 ? 0 : BACKOFF_MS * 2 ** (nFailed - 1) * (0.5 + Math.random() / 2);
    const ms = Math.max(backoffMs, target.backend.breaker(target.model).waitMs);
    if (ms > 0) await sleep(ms, signal);
  }

  #unusable(): DomainError {
    const { model } = this.#request;
    const rejected = this.#order.find(({ backend }) => backend.isExcluded)?.backend.reason;
    if (rejected !== undefined) {
      const status = rejected.status ?? 0;
      return clientError(
        { meaning: status === 402 || status === 429 ? 'credit' : 'credential', status, sentence: rejected.detail },
        model,
      );
    }
    return inferenceErrors.error(
      'model_not_ready',
      `${model} runs at a provider, and this node has no key for it or does not use it now.`,
    );
  }
}

const LOST = new Error('another answer was faster');

/** Undefined: too many wait, or it has waited long enough. */
async function waitForPlace(
  { pace }: Target['backend'],
  tenant: string,
  nTokens: number,
  signal: AbortSignal,
): Promise<(() => void) | undefined> {
  try {
    return await pace.acquire(tenant, nTokens, AbortSignal.any([signal, AbortSignal.timeout(MOST_WAIT_MS)]));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if ((error as Error).name === 'TimeoutError') return undefined;
    throw error;
  }
}

function ignore(): void {}

async function firstDefined<V>(a: Promise<V | undefined>, b: Promise<V | undefined>): Promise<V | undefined> {
  return (await Promise.race([a, b])) ?? (await a) ?? (await b);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
