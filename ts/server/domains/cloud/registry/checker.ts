/** Asks backends what they have, beside everything else: when they are registered, at the start, each hour, and when an administrator wants to know. */
import type { Log } from '../../../platform/log/log.ts';
import type { ServingReason } from '../../inference/index.ts';
import { attemptFailure, ProviderAnswer, readRefusal } from '../answers/provider-answer.ts';
import { AttemptFailure } from '../errors.ts';
import type { ChatCall } from '../kinds/chat-call.ts';
import type { Refusal } from '../kinds/kind.ts';
import { refusalOf } from '../kinds/refusal.ts';
import { costOf } from '../prices/price.ts';
import type { Prices } from '../prices/prices.ts';
import type { CloudStore } from '../store.ts';
import type { BackendRegistry } from './backend-registry.ts';
import type { LiveBackend } from './live-backend.ts';

interface CheckerDeps {
  readonly store: CloudStore;
  readonly registry: BackendRegistry;
  readonly prices: Prices;
  readonly log: Log;
  /** The backend has become unhealthy. */
  onUnhealthy(backend: LiveBackend, reason: ServingReason): void;
}

interface Rechecked {
  readonly model: string | null;
  readonly milliseconds: number;
  readonly cost_micros: number | null;
  readonly currency: string | null;
}

const HOUR_MS = 3_600_000;
/** docs/admin/cloud.md states it. */
const MOST_LIST_BYTES = 8 * 1024 * 1024;
const MOST_MODELS = 5_000;
/** No request can ask for a longer name. */
const MOST_NAME_CHARACTERS = 512;
const LIST_MS = 30_000;

export class Checker {
  readonly #deps: CheckerDeps;
  readonly #running = new Map<string, Promise<void>>();
  #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: CheckerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stopping = new AbortController();
    const all = (): void => {
      for (const { id } of this.#deps.registry.backends) this.checkSoon(id);
    };
    all();
    this.#timer = setInterval(all, HOUR_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort(new Error('the node stops'));
    await Promise.all(this.#running.values());
  }

  /** Nobody waits for it. */
  checkSoon(id: string): void {
    if (this.#running.has(id)) return;
    const running = this.#list(id)
      .catch((error: unknown) => {
        if (!this.#stopping.signal.aborted)
          this.#deps.log.warn('the models of a backend were not listed', { backend: id, error: String(error) });
      })
      .finally(() => this.#running.delete(id));
    this.#running.set(id, running);
  }

  /** One minimal request. What it finds is the backend's state from then on. */
  async recheck(backend: LiveBackend): Promise<Rechecked> {
    const startedAt = performance.now();
    const model = [...backend.offered.values()].find(
      ({ id, capabilities }) => capabilities?.includes('chat') ?? !/embed|rerank|whisper|tts|dall-e|image/i.test(id),
    )?.id;
    const took = (): number => Math.round(performance.now() - startedAt);
    backend.pace.unblock();
    if (model === undefined) {
      await this.#list(backend.id);
      return { model: null, milliseconds: took(), cost_micros: null, currency: null };
    }
    try {
      const answer = await ProviderAnswer.open(
        backend,
        minimalCall(model),
        AbortSignal.any([AbortSignal.timeout(LIST_MS), this.#stopping.signal]),
      );
      while ((await answer.next()) !== undefined);
      await this.#works(backend);
      backend.breaker(model).reset();
      const price = this.#deps.prices.of(model, backend.facts.options.prices);
      const cost = price === undefined || !answer.isReported ? undefined : costOf(price, answer.tokens);
      return {
        model,
        milliseconds: took(),
        cost_micros: cost ?? null,
        currency: cost === undefined ? null : (price?.currency ?? null),
      };
    } catch (error) {
      // A model that says nothing in one token, or refuses so short a request, has answered all the same.
      const refusal = error instanceof AttemptFailure ? error.refusal : unreachable(error);
      if (refusal.meaning === 'request' || refusal.meaning === 'missing' || refusal.sentence === 'the answer is empty')
        await this.#works(backend);
      else await this.found(backend, refusal);
      return { model, milliseconds: took(), cost_micros: null, currency: null };
    }
  }

  /** Notes what a request has found out; only what no waiting ends is kept on disk. */
  async found(backend: LiveBackend, refusal: Refusal): Promise<void> {
    const { meaning, status, sentence: detail } = refusal;
    const code =
      meaning === 'credential' || meaning === 'credit'
        ? 'provider_rejected'
        : meaning === 'limit'
          ? 'rate_limited'
          : 'unreachable';
    const before = backend.reason;
    const since = before?.code === code ? before.since : new Date().toISOString();
    const reason: ServingReason = { code, ...(status > 0 && { status }), since, detail };
    backend.setReason(reason);
    if (before?.code === code) return;
    this.#deps.onUnhealthy(backend, reason);
    if (code === 'provider_rejected') await this.#deps.store.update(backend.id, { reason: JSON.stringify(reason) });
  }

  async #works(backend: LiveBackend): Promise<void> {
    const at = Date.now();
    const wasKept = backend.isExcluded;
    backend.setReason(undefined);
    backend.checked(at);
    await this.#deps.store.update(backend.id, { checked_at: at, ...(wasKept && { reason: null }) });
  }

  async #list(id: string): Promise<void> {
    const backend = this.#deps.registry.find(id);
    if (backend === undefined || !backend.facts.isEnabled) return;
    const { models } = backend.kind;
    if (backend.kind.needsKey && !backend.hasKey) return;
    if (models === undefined) {
      backend.checked(Date.now());
      return;
    }
    const signal = AbortSignal.any([AbortSignal.timeout(LIST_MS), this.#stopping.signal]);
    try {
      const response = await backend.send(models.request(backend.facts.options), signal);
      if (!response.isOk) throw new AttemptFailure(refusalOf(response.status, response.headers, await readRefusal(response)));
      const bytes = await response.bytes(MOST_LIST_BYTES);
      const listed = models
        .read(JSON.parse(bytes.toString()))
        .filter(({ id }) => id.length <= MOST_NAME_CHARACTERS)
        .slice(0, MOST_MODELS);
      backend.listed(listed, Date.now());
      await this.#deps.store.update(id, { models: JSON.stringify(listed), checked_at: Date.now() });
      if (!backend.isExcluded) backend.setReason(undefined);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      const failure = attemptFailure(error, backend, signal);
      const refusal = failure instanceof AttemptFailure ? failure.refusal : unreachable(failure);
      // What has no list is asked by the names that the filter has.
      if (refusal.meaning === 'missing' || refusal.meaning === 'request') await this.#works(backend);
      else await this.found(backend, refusal);
    }
  }
}

function minimalCall(model: string): ChatCall {
  return {
    model,
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [],
    toolChoice: 'none',
    parallelToolCalls: undefined,
    maxTokens: 1,
    n: 1,
    stop: [],
    sampling: {},
    logitBias: undefined,
    topLogprobs: undefined,
    jsonSchema: undefined,
    schemaName: undefined,
    schemaDescription: undefined,
    isStrictSchema: undefined,
    grammar: undefined,
    reasoningEffort: undefined,
    thinkingBudget: undefined,
    enableThinking: undefined,
    templateKwargs: undefined,
    cachePrompt: undefined,
    priority: 0,
    nDraftMax: undefined,
    draftSource: undefined,
    cacheControl: undefined,
    hints: {},
    media: [],
    nTextBytes: 0,
  };
}

function unreachable(error: unknown): Refusal {
  const isLate = (error as Error | undefined)?.name === 'TimeoutError';
  return { meaning: 'passing', status: 0, sentence: isLate ? `no answer for ${LIST_MS / 1000} s` : 'its answer cannot be read' };
}
