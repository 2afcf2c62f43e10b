/** Approvals on disk. Each is decided once and used once: the statement that changes its state names the state before. */
import type { Kysely } from 'kysely';
import type { Events } from '../../../platform/events/index.ts';
import type { SystemScope, TenantScope } from '../../../platform/storage/index.ts';
import { approvalRequested } from '../events.ts';
import { type ApprovalRow, type EdgeStorage, type EdgeTables, type PermissionRow, within } from '../tables.ts';

interface ApprovalPage {
  readonly owner: string;
  /** Those of everybody that destroy something are shown as well. */
  readonly withDestructive: boolean;
  /** Those that another person than the one who asked decides. */
  readonly withSecondPerson: boolean;
  readonly state: ApprovalRow['state'] | undefined;
  /** Those older than this id; empty: from the newest on. */
  readonly after: string;
  readonly limit: number;
}

type Decided = Pick<ApprovalRow, 'state' | 'decided_at' | 'decided_by' | 'decided_arguments' | 'reason'>;

/** A call is found again by these. */
type BoundCall = Pick<ApprovalRow, 'owner' | 'binding'>;

export class ApprovalStore {
  readonly #storage: EdgeStorage;
  readonly #events: Pick<Events, 'record'>;

  constructor(storage: EdgeStorage, events: Pick<Events, 'record'>) {
    this.#storage = storage;
    this.#events = events;
  }

  /** With its event, in one transaction. */
  async add(scope: TenantScope, row: ApprovalRow): Promise<void> {
    const { id, tool, effect, owner, expires_at: expiresAt } = row;
    const told = { id, tool, effect, owner, expires_at: new Date(expiresAt).toISOString() };
    await this.#storage.writeUnit(scope, (db) => [
      db.insertInto('edge_approvals').values(row),
      this.#events.record(db, scope, approvalRequested, told),
    ]);
  }

  find(scope: TenantScope, id: string): Promise<ApprovalRow | undefined> {
    return this.#storage.read(scope, (db) =>
      db.selectFrom('edge_approvals').selectAll().where(within(scope)).where('id', '=', id).executeTakeFirst(),
    );
  }

  /** The calls of an owner that wait for a decision. */
  listPending(scope: TenantScope, owner: string, now: number): Promise<ApprovalRow[]> {
    return this.#storage.read(scope, (db) =>
      db
        .selectFrom('edge_approvals')
        .selectAll()
        .where(within(scope))
        .where('owner', '=', owner)
        .where('state', '=', 'pending')
        .where('expires_at', '>', now)
        .execute(),
    );
  }

  /** Newest first. */
  list(
    scope: TenantScope,
    { owner, withDestructive, withSecondPerson, state, after, limit }: ApprovalPage,
  ): Promise<ApprovalRow[]> {
    return this.#storage.read(scope, (db) => {
      let query = db
        .selectFrom('edge_approvals')
        .selectAll()
        .where(within(scope))
        .where((eb) =>
          eb.or([
            eb('owner', '=', owner),
            ...(withDestructive ? [eb('effect', '=', 'destructive')] : []),
            ...(withSecondPerson ? [eb('asked_by', '=', 'second_person')] : []),
          ]),
        );
      if (state !== undefined) query = query.where('state', '=', state);
      if (after !== '') query = query.where('id', '<', after);
      return query.orderBy('id', 'desc').limit(limit).execute();
    });
  }

  /** Undefined: it waits for no decision any more. A permission is there with the decision or not at all. */
  decide(
    scope: TenantScope,
    id: string,
    decided: Decided,
    permission: PermissionRow | undefined,
    now: number,
  ): Promise<ApprovalRow | undefined> {
    return this.#storage.write(scope, async (tx) => {
      const row = await tx
        .updateTable('edge_approvals')
        .set(decided)
        .where(within(scope))
        .where('id', '=', id)
        .where('state', '=', 'pending')
        .where('expires_at', '>', now)
        .returningAll()
        .executeTakeFirst();
      if (row !== undefined && permission !== undefined) await insertPermission(tx, permission).execute();
      return row;
    });
  }

  /** Takes an approved call for the one time that it may be made. Undefined: it is not approved, is another call, was made, or is over. */
  async use(scope: TenantScope, id: string, { owner, binding }: BoundCall, now: number): Promise<ApprovalRow | undefined> {
    const [used] = await this.#storage.writeUnit(scope, (db) => [
      db
        .updateTable('edge_approvals')
        .set({ state: 'used' })
        .where(within(scope))
        .where('id', '=', id)
        .where('owner', '=', owner)
        .where('binding', '=', binding)
        .where('state', '=', 'approved')
        .where('expires_at', '>', now)
        .returningAll(),
    ]);
    return used?.rows[0] as ApprovalRow | undefined;
  }

  async keepOutcome(scope: TenantScope, id: string, outcome: string): Promise<ApprovalRow> {
    const [kept] = await this.#storage.writeUnit(scope, (db) => [
      db.updateTable('edge_approvals').set({ outcome }).where(within(scope)).where('id', '=', id).returningAll(),
    ]);
    return kept?.rows[0] as unknown as ApprovalRow;
  }

  /** The newest one that was given for the call. */
  async findApproved(scope: TenantScope, { owner, binding }: BoundCall, now: number): Promise<string | undefined> {
    const row = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('edge_approvals')
        .select('id')
        .where(within(scope))
        .where('owner', '=', owner)
        .where('binding', '=', binding)
        .where('state', '=', 'approved')
        .where('expires_at', '>', now)
        .orderBy('id', 'desc')
        .executeTakeFirst(),
    );
    return row?.id;
  }

  /** Whether the owner lets the tool pass: always, or in this conversation. */
  async isPermitted(
    scope: TenantScope,
    { owner, tool, definition, conversation }: Omit<PermissionRow, 'tenant' | 'created_at'>,
  ): Promise<boolean> {
    const row = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('edge_permissions')
        .select('tool')
        .where(within(scope))
        .where('owner', '=', owner)
        .where('tool', '=', tool)
        .where('definition', '=', definition)
        .where('conversation', 'in', ['', conversation])
        .executeTakeFirst(),
    );
    return row !== undefined;
  }

  /** Those of every tenant that a run of the node waited for. */
  async denyWaiting(everyone: SystemScope, node: string, decided: Pick<ApprovalRow, 'decided_at' | 'reason'>): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [
      db
        .updateTable('edge_approvals')
        .set({ state: 'denied', ...decided })
        .where('waiting_node', '=', node)
        .where('state', '=', 'pending'),
    ]);
  }

  /** Ended ones of every tenant. */
  async removeBefore(everyone: SystemScope, time: number): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [db.deleteFrom('edge_approvals').where('expires_at', '<', time)]);
  }
}

function insertPermission(tx: Kysely<EdgeTables>, permission: PermissionRow) {
  return tx
    .insertInto('edge_permissions')
    .values(permission)
    .onConflict((conflict) => conflict.columns(['tenant', 'owner', 'tool', 'definition', 'conversation']).doNothing());
}
