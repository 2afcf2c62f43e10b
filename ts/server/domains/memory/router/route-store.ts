/** Choices of the router on disk: names and scores, and what became of them. They hold no text. */
import type { Selectable } from 'kysely';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { MemoryStorage, RouteTable } from '../tables.ts';

export type RouteKind = 'knowledge' | 'model';

/**
 * `held`: its citations did, or the person went on with it. `changed`: the person had the answer made by another one. `unheld`: passages were found, and
 * no citation of them held.
 */
export type RouteOutcome = 'held' | 'changed' | 'unheld';

export interface RouteChoice {
  readonly id: string;
  readonly owner: string;
  readonly kind: RouteKind;
  readonly conversationId: string | undefined;
  /** The id of the answer. */
  readonly messageId: string | undefined;
  readonly at: number;
  readonly routes: readonly string[];
  readonly scores: readonly number[];
  readonly chosen: string;
  /** The rule would have chosen it. */
  readonly floor: string;
  /** The one that what was learned would have chosen; undefined: nothing was. */
  readonly learned: string | undefined;
  readonly outcome: RouteOutcome | undefined;
  /** The right one, as far as it is known. */
  readonly best: string | undefined;
}

export class RouteStore {
  readonly #storage: MemoryStorage;

  constructor(storage: MemoryStorage) {
    this.#storage = storage;
  }

  async add(scope: TenantScope, choice: RouteChoice): Promise<void> {
    const { conversationId, messageId, routes, scores, learned, outcome, best, ...given } = choice;
    const row = {
      ...given,
      tenant: scope.tenant,
      conversation_id: conversationId ?? null,
      message_id: messageId ?? null,
      routes: JSON.stringify(routes),
      scores: JSON.stringify(scores),
      learned: learned ?? null,
      outcome: outcome ?? null,
      best: best ?? null,
    };
    await this.#storage.writeUnit(scope, (db) => [db.insertInto('memory_routes').values(row)]);
  }

  /** Oldest first. */
  async list(scope: TenantScope, { limit }: { limit: number }): Promise<RouteChoice[]> {
    const rows = await this.#storage.read(scope, (db) =>
      db.selectFrom('memory_routes').selectAll().where('tenant', '=', scope.tenant).orderBy('id', 'desc').limit(limit).execute(),
    );
    return rows.reverse().map(toChoice);
  }

  async end(scope: TenantScope, id: string, outcome: RouteOutcome, best: string | undefined): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db
        .updateTable('memory_routes')
        .set({ outcome, best: best ?? null })
        .where('tenant', '=', scope.tenant)
        .where('id', '=', id),
    ]);
  }

  /** How many there are, and how many of them were regretted. */
  async count(scope: TenantScope): Promise<{ decisions: number; regret: number }> {
    const rows = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('memory_routes')
        .select(['outcome', ({ fn }) => fn.countAll<number>().as('n')])
        .where('tenant', '=', scope.tenant)
        .groupBy('outcome')
        .execute(),
    );
    const sum = (of: typeof rows) => of.reduce((total, { n }) => total + Number(n), 0);
    return { decisions: sum(rows), regret: sum(rows.filter(({ outcome }) => outcome === 'changed' || outcome === 'unheld')) };
  }

  async removeOlder(scope: TenantScope, before: number): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db.deleteFrom('memory_routes').where('tenant', '=', scope.tenant).where('at', '<', before),
    ]);
  }
}

function toChoice(row: Selectable<RouteTable>): RouteChoice {
  return {
    id: row.id,
    owner: row.owner,
    kind: row.kind as RouteKind,
    conversationId: row.conversation_id ?? undefined,
    messageId: row.message_id ?? undefined,
    at: row.at,
    routes: JSON.parse(row.routes) as string[],
    scores: JSON.parse(row.scores) as number[],
    chosen: row.chosen,
    floor: row.floor,
    learned: row.learned ?? undefined,
    outcome: (row.outcome ?? undefined) as RouteOutcome | undefined,
    best: row.best ?? undefined,
  };
}
