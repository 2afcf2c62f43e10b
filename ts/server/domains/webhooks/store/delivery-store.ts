/** Deliveries: what is due, who sends it, and what came of it. */
import { type RawBuilder, sql } from 'kysely';
import {
  databaseTime,
  deleteInBatches,
  type Page,
  readPage,
  type StorageScope,
  systemScope,
  type TenantScope,
} from '../../../platform/storage/index.ts';
import { type DeliveryRow, type WebhookSecrets, type WebhookStorage, within } from './tables.ts';

export interface DeliveryPage {
  webhookId: string;
  state: DeliveryRow['state'] | undefined;
  /** Deliveries older than the one of this id; undefined: from the newest on. */
  after: string | undefined;
  limit: number;
}

/** A delivery with what it is sent with. */
export interface ClaimedDelivery extends DeliveryRow, WebhookSecrets {
  url: string;
  failing_since: number | null;
}

export interface Outcome {
  delivery: Pick<DeliveryRow, 'state' | 'next_attempt_at' | 'ended_at' | 'last_status' | 'last_error'>;
  /** Of the webhook. */
  failingSince: number | null;
  /** A sentence; undefined: it stays enabled. */
  disabledReason: string | undefined;
}

export class DeliveryStore {
  readonly #storage: WebhookStorage;
  readonly #time: RawBuilder<number>;

  constructor(storage: WebhookStorage) {
    this.#storage = storage;
    this.#time = databaseTime(storage.dialect);
  }

  /** What is there for an event already stays as it is. */
  async add(scope: StorageScope, rows: readonly DeliveryRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.#storage.writeUnit(scope, (db) =>
      rows.map((row) =>
        db
          .insertInto('webhook_deliveries')
          .values(row)
          .onConflict((conflict) => conflict.columns(['webhook_id', 'event_seq']).doNothing()),
      ),
    );
  }

  list(scope: TenantScope, { webhookId, state, after, limit }: DeliveryPage): Promise<Page<DeliveryRow>> {
    return this.#storage.read(scope, (db) => {
      let query = db.selectFrom('webhook_deliveries').selectAll().where(within(scope)).where('webhook_id', '=', webhookId);
      if (state !== undefined) query = query.where('state', '=', state);
      if (after !== undefined) query = query.where('id', '<', after);
      return readPage(query.orderBy('id', 'desc'), limit, ['body', 'last_error']);
    });
  }

  /** Makes it due now, whatever came of it. Undefined: the webhook has no such delivery. */
  async replay(scope: TenantScope, webhookId: string, id: string, now: number): Promise<DeliveryRow | undefined> {
    const [replayed] = await this.#storage.writeUnit(scope, (db) => [
      db
        .updateTable('webhook_deliveries')
        .set({ state: 'pending', next_attempt_at: now, tried_since: now, ended_at: null })
        .where(within(scope))
        .where('webhook_id', '=', webhookId)
        .where('id', '=', id)
        .returningAll(),
    ]);
    return replayed?.rows[0] as DeliveryRow | undefined;
  }

  /** Looked at before a claim, which writes. */
  async isAnyDue(now: number): Promise<boolean> {
    const due = await this.#storage.read(systemScope(), (db) =>
      db
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('state', '=', 'pending')
        .where('next_attempt_at', '<=', now)
        .where('lease_until', '<', this.#time)
        .limit(1)
        .execute(),
    );
    return due.length > 0;
  }

  /**
   * Takes due deliveries for this node until the lease ends: up to `limit`, and of each webhook no more than `perWebhook` at a time on all nodes
   * together, so that a slow receiver keeps no other one waiting.
   */
  async claim(node: string, now: number, leaseMs: number, limit: number, perWebhook: number): Promise<ClaimedDelivery[]> {
    const time = this.#time;
    const due = sql<string>`
      select id from (
        select waiting.id, waiting.lease_until, waiting.next_attempt_at, row_number() over (
          partition by waiting.webhook_id
          order by case when waiting.lease_until >= ${time} then 0 else 1 end, waiting.next_attempt_at, waiting.id
        ) as place
        from webhook_deliveries as waiting join webhooks on webhooks.id = waiting.webhook_id
        where waiting.state = 'pending' and waiting.next_attempt_at <= ${now} and webhooks.disabled_at is null
      ) as placed
      where place <= ${perWebhook} and lease_until < ${time} order by next_attempt_at, id limit ${limit}`;
    const [claimed] = await this.#storage.writeUnit(systemScope(), (db) => [
      db
        .updateTable('webhook_deliveries')
        .set({ holder: node, lease_until: sql<number>`${time} + ${leaseMs}` })
        .where(sql<boolean>`id in (${due})`)
        .where('state', '=', 'pending')
        .where('lease_until', '<', time)
        .returningAll(),
    ]);
    return this.#withWebhooks((claimed?.rows ?? []) as unknown as DeliveryRow[]);
  }

  /** Writes what came of an attempt. False: another node has taken the delivery over meanwhile, or it is gone. */
  async finish(
    { id, webhook_id, holder }: DeliveryRow,
    { delivery, failingSince, disabledReason }: Outcome,
    now: number,
  ): Promise<boolean> {
    const disabled = disabledReason === undefined ? {} : { disabled_at: now, disabled_reason: disabledReason };
    const [finished] = await this.#storage.writeUnit(systemScope(), (db) => [
      db
        .updateTable('webhook_deliveries')
        .set((eb) => ({ ...delivery, attempts: eb('attempts', '+', 1), holder: null, lease_until: 0 }))
        .where('id', '=', id)
        .where('holder', '=', holder),
      db
        .updateTable('webhooks')
        .set({ failing_since: failingSince, ...disabled })
        .where('id', '=', webhook_id),
    ]);
    return finished?.affectedRows === 1;
  }

  /** What this node held when it was killed is due again at once. */
  async releaseAll(node: string): Promise<void> {
    await this.#storage.writeUnit(systemScope(), (db) => [
      db.updateTable('webhook_deliveries').set({ holder: null, lease_until: 0 }).where('holder', '=', node),
    ]);
  }

  async removeEndedBefore(time: number): Promise<void> {
    await deleteInBatches(this.#storage, (db, limit) =>
      db
        .deleteFrom('webhook_deliveries')
        .where('id', 'in', (old) => old.selectFrom('webhook_deliveries').select('id').where('ended_at', '<', time).limit(limit)),
    );
  }

  async #withWebhooks(rows: readonly DeliveryRow[]): Promise<ClaimedDelivery[]> {
    if (rows.length === 0) return [];
    const ids = [...new Set(rows.map(({ webhook_id }) => webhook_id))];
    const webhooks = await this.#storage.read(systemScope(), (db) =>
      db
        .selectFrom('webhooks')
        .select(['id', 'url', 'secret', 'previous_secret', 'previous_secret_until', 'failing_since'])
        .where('id', 'in', ids)
        .execute(),
    );
    const byId = new Map(webhooks.map(({ id, ...rest }) => [id, rest]));
    return rows.flatMap((row) => {
      const webhook = byId.get(row.webhook_id);
      return webhook === undefined ? [] : [{ ...row, ...webhook }];
    });
  }
}
