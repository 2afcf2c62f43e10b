/** The quotas on disk. */
import type { StorageScope, TenantScope } from '../../../platform/storage/index.ts';
import { type MeteringStorage, type QuotaRow, type SubjectKind, within } from '../tables.ts';

export type LimitColumns = Pick<
  QuotaRow,
  'requests_per_minute' | 'tokens_per_minute' | 'requests_per_month' | 'tokens_per_month' | 'cost_micro_per_month'
>;

const NO_LIMITS: LimitColumns = {
  requests_per_minute: null,
  tokens_per_minute: null,
  requests_per_month: null,
  tokens_per_month: null,
  cost_micro_per_month: null,
};

export class QuotaStore {
  readonly #storage: MeteringStorage;

  constructor(storage: MeteringStorage) {
    this.#storage = storage;
  }

  list(scope: StorageScope): Promise<QuotaRow[]> {
    return this.#storage.read(scope, (db) =>
      db
        .selectFrom('metering_quotas')
        .selectAll()
        .where(within(scope))
        .orderBy('tenant')
        .orderBy('kind', 'desc')
        .orderBy('subject')
        .execute(),
    );
  }

  /** Changes the limits that are named; a quota without any is removed. */
  update(scope: TenantScope, kind: SubjectKind, subject: string, changes: Partial<LimitColumns>): Promise<QuotaRow> {
    const { tenant } = scope;
    return this.#storage.write(scope, async (tx) => {
      const found = await tx
        .selectFrom('metering_quotas')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('kind', '=', kind)
        .where('subject', '=', subject)
        .executeTakeFirst();
      const row: QuotaRow = { ...NO_LIMITS, ...found, ...limitsOf(changes), tenant, kind, subject };
      const isEmpty = Object.keys(NO_LIMITS).every((name) => row[name as keyof LimitColumns] === null);
      await tx
        .deleteFrom('metering_quotas')
        .where('tenant', '=', tenant)
        .where('kind', '=', kind)
        .where('subject', '=', subject)
        .execute();
      if (!isEmpty) await tx.insertInto('metering_quotas').values(row).execute();
      return row;
    });
  }
}

/** A request may have members that are no limits, and a column that is not there fails the statement. */
function limitsOf(changes: Partial<LimitColumns>): Partial<LimitColumns> {
  const names = Object.keys(NO_LIMITS) as (keyof LimitColumns)[];
  return Object.fromEntries(names.flatMap((name) => (changes[name] === undefined ? [] : [[name, changes[name]]])));
}
