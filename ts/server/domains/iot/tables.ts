/** The rows of the iot module. Times are milliseconds since 1970. */
import {
  column,
  type Migration,
  type StorageAccess,
  type SystemScope,
  systemScope,
  type TenantScope,
  tenantScope,
} from '../../platform/storage/index.ts';
import type { DeviceKind } from './profile.ts';
import type { Quality } from './readings.ts';

export interface DeviceRow {
  tenant: string;
  id: string;
  name: string;
  kind: DeviceKind;
  /** JSON. */
  connection: string;
  /** JSON. */
  variables: string;
  enabled: number;
  /** The one that has the connection. */
  node: string;
  /** By the node that it was given to, and it works there alone; null: none. */
  sealed_key: string | null;
  sealed_by: string | null;
  created_at: number;
  updated_at: number;
}

/**
 * `sending`: nobody knows whether a byte left. `unsent`: none did. `refused`: the device does not do it. `written`: it took it. `unknown`: it was
 * sent, and no answer came.
 */
export type WriteState = 'sending' | 'unsent' | 'refused' | 'written' | 'unknown';

/** One write, from before its first byte on. */
export interface WriteRow {
  tenant: string;
  id: string;
  device: string;
  variable: string;
  owner: string;
  /** JSON. */
  value: string;
  /** The distance that a number moves; 0 for others. */
  change: number;
  state: WriteState;
  /** JSON; null: nothing was read back. */
  read_back: string | null;
  verified: number;
  at: number;
  ended_at: number | null;
}

/** Writes are refused while it is there. */
export interface HaltRow {
  /** The id of a tenant; `*`: all of them. */
  halted: string;
  reason: string;
  by_whom: string;
  at: number;
}

export interface SampleRow {
  tenant: string;
  device: string;
  variable: string;
  at: number;
  /** Booleans are 0 and 1; null: there was none. */
  value: number | null;
  quality: Quality;
}

/** The good samples of an hour together. */
export interface HourRow {
  tenant: string;
  device: string;
  variable: string;
  hour: number;
  n: number;
  mean: number;
  least: number;
  most: number;
}

export interface IotTables {
  iot_devices: DeviceRow;
  iot_writes: WriteRow;
  iot_halts: HaltRow;
  iot_samples: SampleRow;
  iot_hours: HourRow;
}

export type IotStorage = StorageAccess<IotTables>;

/** A node has connections to devices of all tenants, and keeps their history together. */
export const everyDevice = (): SystemScope => systemScope();

/** The scope in which events of a device are told: its own tenant's. */
export const oneDevice = ({ tenant }: Pick<DeviceRow, 'tenant'>): TenantScope => tenantScope(tenant);

const ofVariable = { device: column.id(), variable: column.id() };

export const iotMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create devices, writes, halts, samples and hourly means',
    up: async (schema) => {
      await schema.tenantTable('iot_devices', {
        columns: {
          id: column.id(),
          name: column.text(),
          kind: column.text(),
          connection: column.json(),
          variables: column.json(),
          enabled: column.flag(),
          node: column.id(),
          sealed_key: column.text({ nullable: true }),
          sealed_by: column.text({ nullable: true }),
          created_at: column.timestamp(),
          updated_at: column.timestamp(),
        },
        primaryKey: ['tenant', 'id'],
        unique: [['tenant', 'name']],
      });
      await schema.index('iot_devices_node', 'iot_devices', ['node']);
      await schema.tenantTable('iot_writes', {
        columns: {
          id: column.id(),
          ...ofVariable,
          owner: column.id(),
          value: column.json(),
          change: column.real(),
          state: column.text(),
          read_back: column.json({ nullable: true }),
          verified: column.flag(),
          at: column.timestamp(),
          ended_at: column.timestamp({ nullable: true }),
        },
        primaryKey: ['tenant', 'id'],
      });
      await schema.index('iot_writes_device', 'iot_writes', ['tenant', 'device', 'at']);
      await schema.table('iot_halts', {
        columns: { halted: column.id(), reason: column.text(), by_whom: column.text(), at: column.timestamp() },
        primaryKey: ['halted'],
      });
      await schema.tenantTable('iot_samples', {
        columns: { ...ofVariable, at: column.timestamp(), value: column.real({ nullable: true }), quality: column.text() },
        primaryKey: ['tenant', 'device', 'variable', 'at'],
        clustered: true,
      });
      await schema.index('iot_samples_at', 'iot_samples', ['at']);
      await schema.tenantTable('iot_hours', {
        columns: {
          ...ofVariable,
          hour: column.timestamp(),
          n: column.integer(),
          mean: column.real(),
          least: column.real(),
          most: column.real(),
        },
        primaryKey: ['tenant', 'device', 'variable', 'hour'],
        clustered: true,
      });
      await schema.index('iot_hours_hour', 'iot_hours', ['hour']);
    },
  },
];
