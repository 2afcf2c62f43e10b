/** Chooses a model or a knowledge base for chats that leave it to the node, and remembers what became of each choice. */
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../../platform/time-ordered-id.ts';
import type { Embedders } from '../../retrieval/index.ts';
import { ownerOf } from '../memory.ts';
import { DEFAULT_THRESHOLD, floorRoutes, scoresOf } from './floor.ts';
import type { LearnedFiles } from './learned-files.ts';
import type { LearnedRoutes } from './learned-routes.ts';
import { cosinesTo } from './route-means.ts';
import { learnedRoutes } from './route-network.ts';
import type { RouteChoice, RouteKind, RouteOutcome, RouteStore } from './route-store.ts';

export const ROUTER_MODES = ['off', 'shadow', 'on'] as const;
type RouterMode = (typeof ROUTER_MODES)[number];

interface RouteQuestion {
  readonly kind: RouteKind;
  /** All that the caller may use, one at least; where nothing tells them apart, the first is chosen. */
  readonly routes: readonly string[];
  /** A row for each turn of the person, the last one last, with a cosine for each route; no row: nothing tells them apart. */
  readonly cosines?: readonly (readonly number[])[];
  /** Returns what the person said, the last turn last, where nobody has compared it with the routes. */
  turns?(): readonly string[];
  readonly signal: AbortSignal;
}

export interface ChosenRoute {
  readonly id: string;
  readonly kind: RouteKind;
  readonly chosen: string;
  readonly routes: readonly string[];
  /** The last turn has these. */
  readonly scores: readonly number[];
  /** The rule would have chosen it. */
  readonly floor: string;
  /** The one that what was learned would have chosen; undefined: nothing was. */
  readonly learned: string | undefined;
}

interface RouterOptions {
  readonly store: RouteStore;
  readonly files: Pick<LearnedFiles, 'find'>;
  readonly embedders: Pick<Embedders, 'embed'>;
  /** There are many new choices of the tenant of the caller. */
  readonly onMany: (caller: Principal) => Promise<unknown>;
  readonly mode: RouterMode;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  readonly now: () => number;
}

interface RouterStatus {
  readonly mode: RouterMode;
  readonly decisions: number;
  readonly regret: number;
  /** Undefined: there is none. */
  readonly file: string | undefined;
  readonly source: 'tenant' | 'pinned' | undefined;
  readonly isLoaded: boolean;
  readonly accuracy: number | undefined;
  readonly floor: number | undefined;
}

/** So many new choices of this node are learned from. */
const LEARN_EVERY = 100;

export class Router {
  readonly #options: RouterOptions;
  readonly #choices;
  readonly #regret;
  /** Writes that nobody waits for. */
  readonly #writing = new Set<Promise<void>>();
  #nKept = 0;

  constructor(options: RouterOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#choices = metrics.counter(
      'svc_memory_routes_total',
      'Choices of the router, by kind and by what chose: rule or learned.',
      ['kind', 'by'],
    );
    this.#regret = metrics.counter(
      'svc_memory_route_regret_total',
      'Choices of the router that proved wrong: the person changed it (changed), or no citation held (unheld).',
      ['kind', 'cause'],
    );
  }

  get mode(): RouterMode {
    return this.#options.mode;
  }

  async choose(caller: Principal, question: RouteQuestion): Promise<ChosenRoute> {
    const { kind, routes } = question;
    const { mode } = this;
    const isChoice = routes.length > 1 && mode !== 'off';
    const learned = isChoice ? (await this.#options.files.find(scopeOf(caller)))?.learned[kind] : undefined;
    const cosines = question.cosines ?? (learned === undefined ? [] : await this.#cosinesOf(caller, question, learned));
    const turns = cosines.map(scoresOf);
    const floor = routes[floorRoutes(turns, learned?.threshold ?? DEFAULT_THRESHOLD).at(-1) ?? 0];
    if (floor === undefined) throw new RangeError('there is no route to choose');
    const network = turns.length === 0 ? undefined : learned?.network;
    const other = network && routes[learnedRoutes(network, turns).at(-1) ?? 0];
    const isLearned = mode === 'on' && other !== undefined && isBetter(learned);
    this.#choices.with({ kind, by: isLearned ? 'learned' : 'rule' }).add();
    return {
      id: `rte_${newTimeOrderedId()}`,
      kind,
      routes,
      scores: turns.at(-1) ?? routes.map(() => 1 / routes.length),
      chosen: isLearned ? other : floor,
      floor,
      learned: other,
    };
  }

  /** Empty where nothing is known of the models, or what was said cannot be compared with it. */
  async #cosinesOf(caller: Principal, { routes, turns, signal }: RouteQuestion, { embedding, means }: LearnedRoutes) {
    const said = turns?.() ?? [];
    if (embedding === undefined || means === undefined || said.length === 0) return [];
    const { model, source, prefixes } = embedding;
    const binding = { embeddingModel: model, embeddingSource: source, prefixes, dimensions: Object.values(means)[0]?.length };
    try {
      const options = { tenant: caller.tenant, signal };
      const { vectors } = await this.#options.embedders.embed(binding, 'query', said, options);
      return vectors.map((vector) => cosinesTo(means, routes, vector));
    } catch (error) {
      signal.throwIfAborted();
      this.#options.log.warn('a model is chosen without what was learned', { error: String(error) });
      return [];
    }
  }

  /** Remembers a choice between several. The answer does not wait for it. */
  keep(caller: Principal, route: ChosenRoute, answer: { readonly conversationId?: string; readonly messageId?: string }): void {
    const { store, mode, now, onMany } = this.#options;
    const { routes, scores, id, kind, chosen, floor, learned } = route;
    if (mode === 'off' || routes.length < 2) return;
    const scope = scopeOf(caller);
    const choice: RouteChoice = {
      id,
      owner: ownerOf(caller),
      kind,
      conversationId: answer.conversationId,
      messageId: answer.messageId,
      at: now(),
      routes,
      scores,
      chosen,
      floor,
      learned,
      outcome: undefined,
      best: undefined,
    };
    this.#write(store.add(scope, choice));
    this.#nKept += 1;
    if (this.#nKept % LEARN_EVERY === 0) this.#write(onMany(caller));
  }

  /** Notes what became of a choice that was kept. */
  end(caller: Principal, { id, kind, chosen, routes }: ChosenRoute, outcome: RouteOutcome): void {
    const { store, mode } = this.#options;
    if (mode === 'off' || routes.length < 2) return;
    if (outcome !== 'held') this.#regret.with({ kind, cause: outcome }).add();
    const kept = [...this.#writing];
    const ended = Promise.all(kept).then(() => store.end(scopeOf(caller), id, outcome, outcome === 'held' ? chosen : undefined));
    this.#write(ended);
  }

  async status(scope: TenantScope): Promise<RouterStatus> {
    await Promise.all(this.#writing);
    const { store, files } = this.#options;
    const [counts, found] = await Promise.all([store.count(scope), files.find(scope)]);
    const later = found?.learned.knowledge?.later ?? found?.learned.model?.later;
    return {
      mode: this.mode,
      ...counts,
      file: found?.file,
      source: found?.source,
      isLoaded: found !== undefined && Object.keys(found.learned).length > 0,
      accuracy: later?.learned,
      floor: later?.floor,
    };
  }

  /** A person had an answer made by another route. */
  regret(kind: RouteKind): void {
    this.#regret.with({ kind, cause: 'changed' }).add();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#writing);
  }

  #write(work: Promise<unknown>): void {
    const writing: Promise<void> = work
      .then(() => undefined)
      .catch((error: unknown) => this.#options.log.warn('a choice of the router was not kept', { error: String(error) }))
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }
}

/** Only traffic that is later than what it learned from counts. */
function isBetter(learned: LearnedRoutes | undefined): boolean {
  return learned?.later !== undefined && learned.later.learned > learned.later.floor;
}
