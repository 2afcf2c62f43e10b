/** Shapes of devices, readings and writes. */
import Type, { type Static } from 'typebox';
import { named } from '../../platform/schema/named.ts';
import type { ReadAnswer } from './devices.ts';
import { APPROVALS, ConnectionShape, type Device, DeviceName, KINDS, VariableShape, Variables } from './profile.ts';
import { QUALITIES, type Reading } from './readings.ts';
import type { DeviceSession } from './session.ts';
import type { HaltRow, HourRow, SampleRow, WriteRow } from './tables.ts';
import type { WriteAnswer } from './writes.ts';

const closed = { additionalProperties: false } as const;
const Nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const Time = Type.String({ format: 'date-time' });
const Value = Type.Union([Type.Number(), Type.Boolean(), Type.String()]);
const Quality = Type.Enum([...QUALITIES], {
  description:
    '`good`: it is so now. `stale`: it may be old, or comes from the memory of a broker. `bad`: the device has no value, or one that is none. `offline`: the device is not reached.',
});
const VariableName = Type.String({ maxLength: 64, pattern: '^[A-Za-z][A-Za-z0-9_-]*$' });
const Id = Type.String({ maxLength: 100, pattern: '^[A-Za-z0-9_-]+$' });
const Key = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: '^[!-~]+$',
  description: 'A token or password. Sealed by the node that gets it, and used there alone.',
});

export const DeviceId = Type.Object({ id: Id });

export const AddDevice = named(
  'IotDeviceNew',
  Type.Object(
    { name: DeviceName, kind: Type.Enum([...KINDS]), connection: ConnectionShape, variables: Variables, key: Type.Optional(Key) },
    closed,
  ),
);

export const ChangeDevice = named(
  'IotDeviceChange',
  Type.Object(
    {
      name: Type.Optional(DeviceName),
      enabled: Type.Optional(Type.Boolean()),
      connection: Type.Optional(ConnectionShape),
      variables: Type.Optional(Variables),
      key: Type.Optional(Type.Union([Key, Type.Null()], { description: 'null forgets it.' })),
      here: Type.Optional(Type.Literal(true, { description: 'The node that is asked has the connection from now on.' })),
    },
    { ...closed, minProperties: 1 },
  ),
);

const ListedVariable = Type.Object({
  name: Type.String(),
  unit: Nullable(Type.String()),
  type: Type.String(),
  access: Type.Enum(['read', 'write', 'read_write']),
  min: Nullable(Type.Number()),
  max: Nullable(Type.Number()),
  step: Nullable(Type.Number()),
  approval: Type.Enum([...APPROVALS]),
  exposed: Type.Boolean({ description: 'Models see it.' }),
});

const DeviceMembers = {
  id: Type.String(),
  name: Type.String(),
  kind: Type.Enum([...KINDS]),
  state: Type.Enum(['connected', 'offline', 'disabled', 'elsewhere'], {
    description: '`elsewhere`: another node has the connection.',
  }),
  reason: Nullable(Type.String({ description: 'Why it is offline.' })),
  last_seen: Nullable(Time),
  node: Type.String(),
  key_present: Type.Boolean({ description: 'The key itself is never shown.' }),
};

export const ListedDevice = named('IotDevice', Type.Object({ ...DeviceMembers, variables: Type.Array(ListedVariable) }));
export const DeviceList = named('IotDeviceList', Type.Object({ data: Type.Array(ListedDevice) }));

const ReadingMembers = {
  value: Nullable(Value),
  unit: Nullable(Type.String()),
  ts: Nullable(Type.String({ format: 'date-time', description: 'The device’s own time; null: it sent none.' })),
  received_at: Nullable(Time),
  quality: Quality,
};

export const DeviceShown = named(
  'IotDeviceShown',
  Type.Object({
    ...DeviceMembers,
    connection: Type.Unknown({ description: 'As it was given; the key is no part of it.' }),
    variables: Type.Array(VariableShape),
    readings: Type.Array(Type.Object({ variable: Type.String(), ...ReadingMembers })),
    writes: Type.Array(
      Type.Object({
        id: Type.String(),
        variable: Type.String(),
        owner: Type.String(),
        value: Value,
        read_back: Nullable(Value),
        verified: Type.Boolean(),
        state: Type.Enum(['sending', 'unsent', 'refused', 'written', 'unknown']),
        at: Time,
      }),
      { description: 'The last ones, newest first.' },
    ),
  }),
);

export const ReadVariable = named('IotRead', Type.Object({ device_id: Id, variable: VariableName }, closed));
export const ReadingShape = named(
  'IotReading',
  Type.Object({ device_id: Type.String(), variable: Type.String(), ...ReadingMembers }),
);

export const WriteVariable = named(
  'IotWrite',
  Type.Object({ device_id: Id, variable: VariableName, value: Value, approval_id: Type.Optional(Id) }, closed),
);
export const Written = named(
  'IotWritten',
  Type.Object({
    device_id: Type.String(),
    variable: Type.String(),
    value: Value,
    unit: Nullable(Type.String()),
    ts: Time,
    read_back: Nullable(Value),
    verified: Type.Boolean({ description: 'What was read back is what was written.' }),
  }),
);
export const WriteAsked = named(
  'IotWriteAsked',
  Type.Object({ approval_id: Type.String({ description: 'GET /api/v1/security/approvals/{id} has the outcome.' }) }),
);

export const HaltBody = named(
  'IotHaltNew',
  Type.Object({ reason: Type.String({ minLength: 1, maxLength: 500, pattern: '\\S' }) }, closed),
);
export const HaltShape = named(
  'IotHalt',
  Type.Object({
    halted: Type.Boolean({ description: 'All writes to devices are refused.' }),
    halts: Type.Array(
      Type.Object({
        scope: Type.Enum(['tenant', 'all'], { description: '`all`: a superadmin halted those of all tenants.' }),
        reason: Type.String(),
        by: Type.String(),
        at: Time,
      }),
    ),
  }),
);

export const HistoryAsked = Type.Object({
  device_id: Id,
  variable: VariableName,
  from: Type.Optional(Time),
  to: Type.Optional(Time),
  resolution: Type.Optional(Type.Enum(['samples', 'hours'])),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, description: '1000 by default.' })),
});

export const HistoryShape = named(
  'IotHistory',
  Type.Object({
    device_id: Type.String(),
    variable: Type.String(),
    unit: Nullable(Type.String()),
    resolution: Type.Enum(['samples', 'hours']),
    data: Type.Array(
      Type.Object({
        ts: Time,
        value: Nullable(Type.Number({ description: 'Of hours the mean of good samples; booleans are 0 and 1.' })),
        quality: Quality,
        min: Type.Optional(Type.Number()),
        max: Type.Optional(Type.Number()),
        n: Type.Optional(Type.Integer()),
      }),
      { description: 'Oldest first.' },
    ),
    next: Type.Optional(Type.String({ description: '`from` of the next page; absent on the last one.' })),
  }),
);

/** `node`: the one that is asked. */
export function deviceBody(device: Device, session: DeviceSession | undefined, node: string): Static<typeof ListedDevice> {
  return {
    ...membersOf(device, session, node),
    variables: device.variables.map(({ name, unit, type, access, min, max, step, approval = 'none', exposed = false }) => ({
      name,
      unit: unit ?? null,
      type,
      access,
      min: min ?? null,
      max: max ?? null,
      step: step ?? null,
      approval,
      exposed,
    })),
  };
}

export function shownDevice(
  device: Device,
  session: DeviceSession | undefined,
  node: string,
  readings: readonly Reading[],
  writes: readonly WriteRow[],
): Static<typeof DeviceShown> {
  const units = new Map(device.variables.map(({ name, unit }) => [name, unit ?? null]));
  return {
    ...membersOf(device, session, node),
    connection: device.connection,
    variables: [...device.variables],
    readings: readings.map((reading) => ({
      variable: reading.variable,
      value: reading.value,
      unit: units.get(reading.variable) ?? null,
      ts: isoOf(reading.at),
      received_at: isoOf(reading.receivedAt),
      quality: reading.quality,
    })),
    writes: writes.map(({ id, variable, owner, value, read_back: back, verified, state, at }) => ({
      id,
      variable,
      owner,
      value: JSON.parse(value) as Static<typeof Value>,
      read_back: back === null ? null : (JSON.parse(back) as Static<typeof Value>),
      verified: verified === 1,
      state,
      at: new Date(at).toISOString(),
    })),
  };
}

function membersOf(device: Device, session: DeviceSession | undefined, here: string) {
  const { id, name, kind, node, isEnabled, sealedKey } = device;
  const isOffline = session !== undefined && !session.isConnected;
  const state = !isEnabled
    ? 'disabled'
    : session === undefined
      ? node === here
        ? 'offline'
        : 'elsewhere'
      : isOffline
        ? 'offline'
        : 'connected';
  return {
    id,
    name,
    kind,
    state,
    reason: isOffline ? session.reason : null,
    last_seen: isoOf(session?.lastSeen ?? null),
    node,
    key_present: sealedKey !== null,
  } as const;
}

export function readingBody({ device, variable, value, at, receivedAt, quality }: ReadAnswer): Static<typeof ReadingShape> {
  const about = { device_id: device.id, variable: variable.name, value, unit: variable.unit ?? null };
  return { ...about, ts: isoOf(at), received_at: isoOf(receivedAt), quality };
}

export function writtenBody({ device, variable, value, readBack, isVerified, at }: WriteAnswer): Static<typeof Written> {
  return {
    device_id: device.id,
    variable: variable.name,
    value,
    unit: variable.unit ?? null,
    ts: new Date(at).toISOString(),
    read_back: readBack,
    verified: isVerified,
  };
}

export function haltBody(rows: readonly HaltRow[]): Static<typeof HaltShape> {
  return {
    halted: rows.length > 0,
    halts: rows.map(({ halted, reason, by_whom: by, at }) => ({
      scope: halted === '*' ? ('all' as const) : ('tenant' as const),
      reason,
      by,
      at: new Date(at).toISOString(),
    })),
  };
}

export function sampleBody({ at, value, quality }: SampleRow) {
  return { ts: new Date(at).toISOString(), value, quality };
}

export function hourBody({ hour, mean, least, most, n }: HourRow) {
  return { ts: new Date(hour).toISOString(), value: mean, quality: 'good' as const, min: least, max: most, n: Number(n) };
}

function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
