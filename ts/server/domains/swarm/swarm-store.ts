/** Swarms of a tenant: agents by name, who work in an order. */
import type { TenantScope } from '../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../platform/time-ordered-id.ts';
import { swarmError } from './errors.ts';
import type { Team } from './goal.ts';
import { type SwarmRow, type SwarmStorage, within } from './tables.ts';

export interface Swarm {
  readonly id: string;
  readonly name: string;
  readonly team: Team;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export class SwarmStore {
  readonly #storage: SwarmStorage;
  readonly #now: () => number;

  constructor(storage: SwarmStorage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  async add(scope: TenantScope, owner: string, name: string, team: Team): Promise<Swarm> {
    const at = this.#now();
    const id = `swm_${newTimeOrderedId(at)}`;
    const row = { tenant: scope.tenant, id, owner, name, team: JSON.stringify(team), created_at: at, updated_at: at };
    await this.#storage.writeUnit(scope, (db) => [db.insertInto('swarm_swarms').values(row)]);
    return swarmOf(row);
  }

  /** Lists them in the order in which they were made. */
  async list(scope: TenantScope, { after, limit }: { after: string; limit: number }): Promise<Swarm[]> {
    const rows = await this.#storage.read(scope, (db) =>
      db.selectFrom('swarm_swarms').selectAll().where(within(scope)).where('id', '>', after).orderBy('id').limit(limit).execute(),
    );
    return rows.map(swarmOf);
  }

  /** Throws `swarm_not_found`. */
  async get(scope: TenantScope, id: string): Promise<Swarm> {
    const row = await this.#storage.read(scope, (db) =>
      db.selectFrom('swarm_swarms').selectAll().where(within(scope)).where('id', '=', id).executeTakeFirst(),
    );
    return swarmOf(required(id, row));
  }

  async update(scope: TenantScope, id: string, changes: { name?: string | undefined; team?: Team | undefined }): Promise<Swarm> {
    const set = {
      ...(changes.name !== undefined && { name: changes.name }),
      ...(changes.team !== undefined && { team: JSON.stringify(changes.team) }),
      updated_at: this.#now(),
    };
    const [updated] = await this.#storage.writeUnit(scope, (db) => [
      db.updateTable('swarm_swarms').set(set).where('tenant', '=', scope.tenant).where('id', '=', id).returningAll(),
    ]);
    return swarmOf(required(id, updated?.rows[0] as SwarmRow | undefined));
  }

  /** Goals keep the team that they were made with. Throws `swarm_not_found`. */
  async remove(scope: TenantScope, id: string): Promise<void> {
    const [removed] = await this.#storage.writeUnit(scope, (db) => [
      db.deleteFrom('swarm_swarms').where('tenant', '=', scope.tenant).where('id', '=', id).returningAll(),
    ]);
    required(id, removed?.rows[0] as SwarmRow | undefined);
  }
}

function required(id: string, row: SwarmRow | undefined): SwarmRow {
  if (row !== undefined) return row;
  throw swarmError('swarm_not_found', `There is no swarm ${id.slice(0, 64)}.`);
}

function swarmOf({ id, name, team, created_at: createdAt, updated_at: updatedAt }: SwarmRow): Swarm {
  return { id, name, team: JSON.parse(team) as Team, createdAt, updatedAt };
}
