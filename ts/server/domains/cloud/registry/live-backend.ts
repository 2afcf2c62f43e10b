/** A backend as the node uses it: its connections, its limits, what it offers and how it does. */
import type { AddressPolicy } from '../../../platform/network/address-policy.ts';
import { HttpClient } from '../../../platform/network/http-client.ts';
import type { HttpResponse } from '../../../platform/network/http-response.ts';
import type { ServingReason, ServingState } from '../../inference/index.ts';
import type { Kind, KindName, KindOptions, ListedModel, ProviderRequest, Refusal } from '../kinds/kind.ts';
import { KINDS } from '../kinds.ts';
import type { PriceTable } from '../prices/prices.ts';
import { Breaker } from './breaker.ts';
import { type ModelFilter, offeredModels } from './model-filter.ts';
import { Pace, type PaceLimits } from './pace.ts';

/** The facts that an administrator states of a backend and that are no secret. */
export interface BackendOptions extends KindOptions {
  readonly modelFilter: ModelFilter;
  readonly priority: number;
  readonly weight: number;
  readonly limits: PaceLimits;
  readonly timeouts: { readonly connect_ms: number; readonly first_byte_ms: number; readonly idle_ms: number };
  readonly onClientGone: 'cancel' | 'drain';
  readonly tenants: readonly string[] | null;
  readonly prices: PriceTable;
}

export interface LiveBackendFacts {
  readonly id: string;
  readonly kind: KindName;
  readonly baseUrl: string;
  readonly options: BackendOptions;
  readonly isEnabled: boolean;
  readonly createdAt: number;
  /** Read at each use; undefined: this node has none. Throws what keeps it from being read. */
  key(): string | undefined;
  readonly hasSealedKey: boolean;
  /** Further fields of each request, some of them secret. */
  readonly headers: Readonly<Record<string, string>>;
  readonly models: readonly ListedModel[] | undefined;
  readonly checkedAt: number | undefined;
  readonly reason: ServingReason | undefined;
  /** Whether a prompt of the tenant may be found again in its cache; left out: the provider judges it. */
  keepsPromptsOf?(tenant: string): boolean;
}

interface LiveBackendDeps {
  readonly policy: AddressPolicy;
  readonly userAgent: string;
  /** It offers other models than before. */
  onListed(): void;
}

/** Longer than the library's own: a new connection costs a handshake of TLS. Servers that close earlier say so, and a failed request is tried again. */
const KEEP_ALIVE_MS = 60_000;
const LATENCY_MEMORY = 0.8;
const SECRET = '[secret]';
const LEAST_SECRET = 6;
/** So many characters in a row of a key are a part of it, wherever in it they stand. */
const PART_LENGTH = 8;

export class LiveBackend {
  readonly facts: LiveBackendFacts;
  readonly kind: Kind;
  readonly pace: Pace;
  readonly #client: HttpClient;
  readonly #userAgent: string;
  readonly #onListed: () => void;
  readonly #breakers = new Map<string, Breaker>();
  #offered: ReadonlyMap<string, ListedModel>;
  #models: readonly ListedModel[] | undefined;
  #checkedAt: number | undefined;
  #reason: ServingReason | undefined;
  #firstContentMs: number | undefined;
  #hasOpenedKey = false;

  constructor(facts: LiveBackendFacts, { policy, userAgent, onListed }: LiveBackendDeps) {
    this.facts = facts;
    this.kind = KINDS[facts.kind];
    this.#userAgent = userAgent;
    this.#onListed = onListed;
    const { timeouts, limits, modelFilter } = facts.options;
    this.pace = new Pace(limits);
    this.#client = new HttpClient({
      policy,
      connectMs: timeouts.connect_ms,
      // How long an answer may take is measured by its content and its frames.
      firstByteMs: 0,
      idleMs: 0,
      keepAliveMs: KEEP_ALIVE_MS,
    });
    this.#models = facts.models;
    this.#offered = offeredModels(modelFilter, facts.models ?? []);
    this.#checkedAt = facts.checkedAt;
    this.#reason = facts.reason;
  }

  get id(): string {
    return this.facts.id;
  }

  get offered(): ReadonlyMap<string, ListedModel> {
    return this.#offered;
  }

  get checkedAt(): number | undefined {
    return this.#checkedAt;
  }

  get reason(): ServingReason | undefined {
    return this.#reason;
  }

  /** Of the last answers, until they began to say something; undefined: nobody has asked. */
  get firstContentMs(): number | undefined {
    return this.#firstContentMs;
  }

  get hasKey(): boolean {
    // A sealed key stays what it is as long as this object lives, and opening it takes a while.
    if (this.#hasOpenedKey) return true;
    const hasKey = this.#readsKey();
    this.#hasOpenedKey = hasKey && this.facts.hasSealedKey;
    return hasKey;
  }

  #readsKey(): boolean {
    try {
      return this.facts.key() !== undefined;
    } catch {
      return false;
    }
  }

  get isReady(): boolean {
    return this.facts.isEnabled && !this.isExcluded && (this.hasKey || !this.kind.needsKey);
  }

  /** Until an administrator has looked. */
  get isExcluded(): boolean {
    return this.#reason?.code === 'provider_rejected';
  }

  /** Of the whole backend, or of one of its models. */
  state(model?: string): ServingState {
    if (!this.facts.isEnabled) return 'disabled';
    if (this.#reason !== undefined) return 'backend_unhealthy';
    if (model !== undefined && this.breaker(model).state !== 'closed') return 'backend_unhealthy';
    return this.#checkedAt === undefined ? 'checking' : 'ok';
  }

  breaker(model: string): Breaker {
    let breaker = this.#breakers.get(model);
    if (breaker === undefined) {
      breaker = new Breaker();
      this.#breakers.set(model, breaker);
    }
    return breaker;
  }

  listed(models: readonly ListedModel[], at: number): void {
    this.#models = models;
    this.#checkedAt = at;
    this.#offered = offeredModels(this.facts.options.modelFilter, models);
    this.#onListed();
  }

  checked(at: number): void {
    this.#checkedAt = at;
  }

  /** Undefined: it works. */
  setReason(reason: ServingReason | undefined): void {
    this.#reason = reason;
  }

  began(ms: number): void {
    this.#firstContentMs =
      this.#firstContentMs === undefined ? ms : LATENCY_MEMORY * this.#firstContentMs + (1 - LATENCY_MEMORY) * ms;
  }

  /** Gives what was learned of it, for one that takes its place. */
  inherit(before: LiveBackend): void {
    this.#firstContentMs = before.#firstContentMs;
    if (this.#models === undefined && before.#models !== undefined) this.listed(before.#models, before.#checkedAt ?? 0);
  }

  /** Everything goes to this backend's own origin, and no redirect is followed. */
  send(request: ProviderRequest, signal: AbortSignal): Promise<HttpResponse> {
    const { baseUrl, options, headers } = this.facts;
    const url = new URL(baseUrl.replace(/\/$/, '') + request.path);
    const { method = 'POST', body = '' } = request;
    const key = this.facts.key();
    const signed = key === undefined ? {} : this.kind.authorize(key, { method, url, body, now: new Date() }, options);
    return this.#client.request(url, {
      method,
      headers: {
        'user-agent': this.#userAgent,
        accept: this.kind.framing === 'sse' ? 'text/event-stream, application/json' : '*/*',
        ...(method === 'POST' && { 'content-type': 'application/json' }),
        ...request.headers,
        ...headers,
        ...signed,
      },
      body: method === 'POST' ? body : undefined,
      signal,
    });
  }

  /** A provider may repeat what it was sent. */
  scrub<R extends Refusal>(refusal: R): R {
    return { ...refusal, sentence: this.scrubText(refusal.sentence) };
  }

  scrubText(text: string): string {
    let clean = text;
    for (const value of Object.values(this.facts.headers))
      if (value.length >= LEAST_SECRET) clean = clean.replaceAll(value, SECRET);
    for (const key of this.#keyParts()) clean = withoutParts(clean, key);
    // Of whichever key the provider quotes a part.
    return clean.replace(/\b(?:sk|pk|key|AKIA|ASIA|AIza)[-_A-Za-z0-9*.]{8,}/g, SECRET);
  }

  #keyParts(): string[] {
    try {
      return (this.facts.key()?.split(':') ?? []).filter((part) => part.length >= LEAST_SECRET);
    } catch {
      // One that cannot be read was not sent.
      return [];
    }
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

/** The text without the key and without any longer part of it. */
function withoutParts(text: string, key: string): string {
  const whole = text.replaceAll(key, SECRET);
  let clean = '';
  for (let at = 0; at < whole.length; ) {
    let end = at;
    if (key.includes(whole.slice(at, at + PART_LENGTH)) && at + PART_LENGTH <= whole.length)
      for (end = at + PART_LENGTH; end < whole.length && key.includes(whole.slice(at, end + 1)); ) end++;
    clean += end > at ? SECRET : (whole[at] ?? '');
    at = Math.max(end, at + 1);
  }
  return clean;
}
