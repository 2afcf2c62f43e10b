/** Chooses a model or a knowledge base for chats that leave it to the node, and remembers what became of each choice. */
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../../platform/time-ordered-id.ts';
import { ownerOf } from '../memory.ts';
import { DEFAULT_THRESHOLD, floorRoutes, scoresOf } from './floor.ts';
import type { RouteChoice, RouteKind, RouteOutcome, RouteStore } from './route-store.ts';

export const ROUTER_MODES = ['off', 'shadow', 'on'] as const;
type RouterMode = (typeof ROUTER_MODES)[number];

interface RouteQuestion {
  readonly kind: RouteKind;
  /** All that the caller may use, one at least; where nothing tells them apart, the first is chosen. */
  readonly routes: readonly string[];
  /** A row for each turn of the person, the last one last, with a cosine for each route; no row: nothing tells them apart. */
  readonly cosines: readonly (readonly number[])[];
}

export interface ChosenRoute {
  readonly id: string;
  readonly kind: RouteKind;
  readonly chosen: string;
  readonly routes: readonly string[];
  /** The last turn has these. */
  readonly scores: readonly number[];
  readonly floor: string;
}

interface RouterOptions {
  readonly store: RouteStore;
  readonly mode: RouterMode;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  readonly now: () => number;
}

interface RouterStatus {
  readonly mode: RouterMode;
  readonly decisions: number;
  readonly regret: number;
}

/** Names of what is not there any more say nothing for longer. */
const KEPT_MS = 90 * 86_400_000;
/** Choices between two looks for old ones. */
const SWEEP_EVERY = 100;

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

  choose({ kind, routes, cosines }: RouteQuestion): ChosenRoute {
    const turns = cosines.map(scoresOf);
    const floor = floorRoutes(turns, DEFAULT_THRESHOLD).at(-1) ?? 0;
    const chosen = routes[floor];
    if (chosen === undefined) throw new RangeError('there is no route to choose');
    this.#choices.with({ kind, by: 'rule' }).add();
    const scores = turns.at(-1) ?? routes.map(() => 1 / routes.length);
    return { id: `rte_${newTimeOrderedId()}`, kind, chosen, routes, scores, floor: chosen };
  }

  /** Remembers a choice between several. The answer does not wait for it. */
  keep(caller: Principal, route: ChosenRoute, answer: { readonly conversationId?: string; readonly messageId?: string }): void {
    const { store, mode, now } = this.#options;
    const { routes, scores, id, kind, chosen, floor } = route;
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
      learned: undefined,
      outcome: undefined,
      best: undefined,
    };
    this.#write(store.add(scope, choice));
    this.#nKept += 1;
    if (this.#nKept % SWEEP_EVERY === 0) this.#write(store.removeOlder(scope, now() - KEPT_MS));
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
    return { mode: this.mode, ...(await this.#options.store.count(scope)) };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#writing);
  }

  #write(work: Promise<void>): void {
    const writing = work
      .catch((error: unknown) => this.#options.log.warn('a choice of the router was not kept', { error: String(error) }))
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }
}
