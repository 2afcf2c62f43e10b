/** Devices, their writes and halts on disk. A write is there before its first byte leaves. */
import type { SystemScope, TenantScope } from '../../platform/storage/index.ts';
import { iotError } from './errors.ts';
import type { Device, Variable } from './profile.ts';
import { type DeviceRow, everyDevice, type HaltRow, type IotStorage, type WriteRow, type WriteState } from './tables.ts';

const ALL = '*';
const IDS_AT_ONCE = 200;
/** These states count against the rate: nobody knows of some whether the device took them. */
const MOVED: readonly WriteState[] = ['sending', 'written', 'unknown'];

export class DeviceStore {
  readonly #storage: IotStorage;

  constructor(storage: IotStorage) {
    this.#storage = storage;
  }

  async list(scope: TenantScope): Promise<Device[]> {
    const rows = await this.#storage.read(scope, (db) =>
      db.selectFrom('iot_devices').selectAll().where('tenant', '=', scope.tenant).orderBy('name').execute(),
    );
    return rows.map(deviceOf);
  }

  async find(scope: TenantScope, id: string): Promise<Device | undefined> {
    const row = await this.#storage.read(scope, (db) =>
      db.selectFrom('iot_devices').selectAll().where('tenant', '=', scope.tenant).where('id', '=', id).executeTakeFirst(),
    );
    return row === undefined ? undefined : deviceOf(row);
  }

  /** Maps the devices of all tenants that are on and whose connection the node has to the time of their last change. */
  async changesOfNode(node: string): Promise<Map<string, number>> {
    const rows = await this.#storage.read(everyDevice(), (db) =>
      db.selectFrom('iot_devices').select(['id', 'updated_at']).where('node', '=', node).where('enabled', '=', 1).execute(),
    );
    return new Map(rows.map(({ id, updated_at: at }) => [id, at]));
  }

  /** Those of all tenants that are on and whose connection the node has. */
  async listOfNode(node: string, ids: readonly string[]): Promise<Device[]> {
    const devices: Device[] = [];
    for (let first = 0; first < ids.length; first += IDS_AT_ONCE) {
      const some = ids.slice(first, first + IDS_AT_ONCE);
      const rows = await this.#storage.read(everyDevice(), (db) =>
        db
          .selectFrom('iot_devices')
          .selectAll()
          .where('id', 'in', some)
          .where('node', '=', node)
          .where('enabled', '=', 1)
          .execute(),
      );
      devices.push(...rows.map(deviceOf));
    }
    return devices;
  }

  /** Throws `device_exists`. */
  async save(scope: TenantScope, device: Device): Promise<void> {
    const { id, name, kind, node, sealedKey, sealedBy, updatedAt } = device;
    const changes = {
      name,
      kind,
      connection: JSON.stringify(device.connection),
      variables: JSON.stringify(device.variables),
      enabled: device.isEnabled ? 1 : 0,
      node,
      sealed_key: sealedKey,
      sealed_by: sealedBy,
      updated_at: updatedAt,
    };
    await this.#storage.write(scope, async (tx) => {
      const same = await tx
        .selectFrom('iot_devices')
        .select('id')
        .where('tenant', '=', scope.tenant)
        .where('name', '=', name)
        .executeTakeFirst();
      if (same !== undefined && same.id !== id)
        throw iotError('device_exists', `There is a device ${JSON.stringify(name)}.`, { param: 'name' });
      await tx
        .insertInto('iot_devices')
        .values({ tenant: scope.tenant, id, created_at: updatedAt, ...changes })
        .onConflict((conflict) => conflict.columns(['tenant', 'id']).doUpdateSet(changes))
        .execute();
    });
  }

  /** Its history goes with it. */
  async remove(scope: TenantScope, id: string): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db.deleteFrom('iot_devices').where('tenant', '=', scope.tenant).where('id', '=', id),
      ...(['iot_writes', 'iot_samples', 'iot_hours'] as const).map((table) =>
        db.deleteFrom(table).where('tenant', '=', scope.tenant).where('device', '=', id),
      ),
    ]);
  }

  async beginWrite(
    scope: TenantScope,
    row: Omit<WriteRow, 'tenant' | 'state' | 'read_back' | 'verified' | 'ended_at'>,
  ): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db
        .insertInto('iot_writes')
        .values({ tenant: scope.tenant, ...row, state: 'sending', read_back: null, verified: 0, ended_at: null }),
    ]);
  }

  async endWrite(
    scope: TenantScope,
    id: string,
    changes: Pick<WriteRow, 'state' | 'read_back' | 'verified' | 'ended_at'>,
  ): Promise<void> {
    await this.#storage.writeUnit(scope, (db) => [
      db.updateTable('iot_writes').set(changes).where('tenant', '=', scope.tenant).where('id', '=', id),
    ]);
  }

  /** The writes that may have moved the variable since then, oldest first. */
  movesSince(scope: TenantScope, device: string, variable: string, since: number): Promise<Pick<WriteRow, 'at' | 'change'>[]> {
    return this.#storage.read(scope, (db) =>
      db
        .selectFrom('iot_writes')
        .select(['at', 'change'])
        .where('tenant', '=', scope.tenant)
        .where('device', '=', device)
        .where('variable', '=', variable)
        .where('at', '>', since)
        .where('state', 'in', MOVED)
        .orderBy('at')
        .execute(),
    );
  }

  /** The value that was written last, as JSON; undefined: none was. */
  async lastWritten(scope: TenantScope, device: string, variable: string): Promise<string | undefined> {
    const row = await this.#storage.read(scope, (db) =>
      db
        .selectFrom('iot_writes')
        .select('value')
        .where('tenant', '=', scope.tenant)
        .where('device', '=', device)
        .where('variable', '=', variable)
        .where('state', 'in', MOVED)
        .orderBy('at', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst(),
    );
    return row?.value;
  }

  /** Newest first. */
  recentWrites(scope: TenantScope, device: string, limit: number): Promise<WriteRow[]> {
    return this.#storage.read(scope, (db) =>
      db
        .selectFrom('iot_writes')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('device', '=', device)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    );
  }

  /** A node that was killed at a write does not know what became of it. */
  async endInterrupted(node: string, now: number): Promise<void> {
    await this.#storage.writeUnit(everyDevice(), (db) => [
      db
        .updateTable('iot_writes')
        .set({ state: 'unknown', ended_at: now })
        .where('state', '=', 'sending')
        .where('device', 'in', db.selectFrom('iot_devices').select('id').where('node', '=', node)),
    ]);
  }

  async removeWritesBefore(time: number): Promise<void> {
    await this.#storage.writeUnit(everyDevice(), (db) => [db.deleteFrom('iot_writes').where('at', '<', time)]);
  }

  /** The halts that hold for the tenant. */
  halts(tenant: string): Promise<HaltRow[]> {
    return this.#storage.read(everyDevice(), (db) =>
      db.selectFrom('iot_halts').selectAll().where('halted', 'in', [tenant, ALL]).execute(),
    );
  }

  /** `tenant`: undefined halts all of them. */
  async halt(tenant: string | undefined, row: Omit<HaltRow, 'halted'>): Promise<void> {
    await this.#storage.writeUnit(everyDevice(), (db) => [
      db
        .insertInto('iot_halts')
        .values({ halted: tenant ?? ALL, ...row })
        .onConflict((conflict) => conflict.column('halted').doUpdateSet(row)),
    ]);
  }

  async resume(halted: readonly (string | undefined)[]): Promise<void> {
    await this.#storage.writeUnit(everyDevice(), (db) => [
      db.deleteFrom('iot_halts').where(
        'halted',
        'in',
        halted.map((tenant) => tenant ?? ALL),
      ),
    ]);
  }

  async eraseTenant(scope: TenantScope): Promise<void> {
    await this.#storage.writeUnit(scope, (db) =>
      (['iot_devices', 'iot_writes', 'iot_samples', 'iot_hours'] as const).map((table) =>
        db.deleteFrom(table).where('tenant', '=', scope.tenant),
      ),
    );
    await this.resume([scope.tenant]);
  }

  /** The writes to devices stay, without the name of who made them. */
  async eraseAccount(everyone: SystemScope, accountId: string): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [
      db.updateTable('iot_writes').set({ owner: 'deleted' }).where('owner', '=', `user:${accountId}`),
    ]);
  }
}

function deviceOf(row: DeviceRow): Device {
  return {
    tenant: row.tenant,
    id: row.id,
    name: row.name,
    kind: row.kind,
    connection: JSON.parse(row.connection) as Device['connection'],
    variables: JSON.parse(row.variables) as Variable[],
    isEnabled: row.enabled === 1,
    node: row.node,
    sealedKey: row.sealed_key,
    sealedBy: row.sealed_by,
    updatedAt: row.updated_at,
  };
}
