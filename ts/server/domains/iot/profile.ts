/** A device is its kind, how it is reached, and its variables with what may be read and written. */
import Type, { type Static, type TSchema } from 'typebox';
import { named } from '../../platform/schema/named.ts';

export const KINDS = ['simulated', 'http', 'homeassistant', 'modbus_tcp', 'mqtt'] as const;
export type DeviceKind = (typeof KINDS)[number];

const closed = { additionalProperties: false } as const;
const Name = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$' });
const Url = Type.String({ maxLength: 500, pattern: '^https?://[A-Za-z0-9.:\\[\\]-]+(?:/[!-~]*)?$' });
const Path = Type.String({ maxLength: 500, pattern: '^/[!-~]*$' });
const Pointer = Type.String({ maxLength: 200, pattern: '^(?:/[^/\\s]*)*$', description: 'RFC 6901; empty: the whole value.' });
const PollSeconds = Type.Number({ minimum: 0.1, maximum: 3600, description: '5 by default.' });
const TimeoutSeconds = Type.Number({ minimum: 0.1, maximum: 30, description: '3 by default.' });
const Entity = Type.String({ pattern: '^[a-z_]{1,40}\\.[a-z0-9_]{1,100}$' });
const Service = Type.String({ pattern: '^[a-z_]{1,40}\\.[a-z0-9_]{1,60}$' });
const Topic = Type.String({ minLength: 1, maxLength: 500, pattern: '^[^+#\\u0000]+$' });
const Qos = Type.Integer({ minimum: 0, maximum: 1 });
const Scalar = Type.Union([Type.Number(), Type.Boolean(), Type.String({ maxLength: 200 })]);

const REGISTER_TYPES = ['int16', 'uint16', 'int32', 'uint32', 'float32', 'float64', 'bool'] as const;
export type RegisterType = (typeof REGISTER_TYPES)[number];
const Order = Type.Enum(['big', 'little']);

const polled = { poll_seconds: Type.Optional(PollSeconds), timeout_seconds: Type.Optional(TimeoutSeconds) };

/** The shapes by kind say how the device is reached, and how a variable is read and written. */
export const SHAPES = {
  simulated: {
    connection: Type.Object({ poll_seconds: Type.Optional(PollSeconds) }, closed),
    read: Type.Object(
      {
        start: Type.Optional(Scalar),
        amplitude: Type.Optional(Type.Number({ description: 'Of a sine about the value; 0 by default.' })),
        period_seconds: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1e6 })),
      },
      closed,
    ),
    write: Type.Object({}, closed),
  },
  http: {
    connection: Type.Object(
      { url: Url, key_header: Type.Optional(Name), key_prefix: Type.Optional(Type.String({ maxLength: 20 })), ...polled },
      closed,
    ),
    read: Type.Object({ path: Path, pointer: Type.Optional(Pointer), time_pointer: Type.Optional(Pointer) }, closed),
    write: Type.Object(
      {
        path: Path,
        method: Type.Optional(Type.Enum(['POST', 'PUT', 'PATCH'])),
        body: Type.Optional(
          Type.Unknown({ description: 'JSON in which the text "{value}" stands for the value; absent: the value alone.' }),
        ),
      },
      closed,
    ),
  },
  homeassistant: {
    connection: Type.Object({ url: Url, ...polled }, closed),
    read: Type.Object({ entity: Entity, attribute: Type.Optional(Name) }, closed),
    write: Type.Object(
      {
        entity: Entity,
        service: Type.Optional(Service),
        field: Type.Optional(Name),
        service_true: Type.Optional(Service),
        service_false: Type.Optional(Service),
      },
      { ...closed, description: '`service` with `field`, or for booleans `service_true` and `service_false`.' },
    ),
  },
  modbus_tcp: {
    connection: Type.Object(
      {
        host: Type.String({ pattern: '^[A-Za-z0-9.:-]{1,253}$' }),
        port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: '502 by default.' })),
        unit_id: Type.Optional(Type.Integer({ minimum: 0, maximum: 255, description: '1 by default.' })),
        ...polled,
      },
      closed,
    ),
    read: Type.Object(
      {
        register: Type.Integer({ minimum: 0, maximum: 65_535, description: 'The address that is sent: register 40001 is 0.' }),
        area: Type.Enum(['holding', 'input', 'coil', 'discrete']),
        type: Type.Enum([...REGISTER_TYPES]),
        byte_order: Type.Optional(Order),
        word_order: Type.Optional(Order),
        scale: Type.Optional(Type.Number({ description: 'value = raw * scale + offset' })),
        offset: Type.Optional(Type.Number()),
        sentinel: Type.Optional(Type.Number({ description: 'The raw number that stands for none.' })),
      },
      { ...closed, description: 'It holds for both directions; orders are `big` by default.' },
    ),
    write: Type.Object({}, closed),
  },
  mqtt: {
    connection: Type.Object(
      {
        url: Type.String({ maxLength: 500, pattern: '^mqtts?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?$' }),
        version: Type.Optional(Type.Enum(['3.1.1', '5'])),
        user: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
        client_id: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,60}$' })),
        keep_alive_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600, description: '20 by default.' })),
        timeout_seconds: Type.Optional(TimeoutSeconds),
      },
      closed,
    ),
    read: Type.Object(
      {
        topic: Topic,
        pointer: Type.Optional(Pointer),
        time_pointer: Type.Optional(Pointer),
        qos: Type.Optional(Qos),
        sentinel: Type.Optional(Type.Number()),
      },
      closed,
    ),
    write: Type.Object(
      {
        topic: Topic,
        qos: Type.Optional(Qos),
        body: Type.Optional(
          Type.Unknown({ description: 'JSON in which the text "{value}" stands for the value; absent: the value alone.' }),
        ),
      },
      closed,
    ),
  },
} as const satisfies Record<DeviceKind, Record<'connection' | 'read' | 'write', TSchema>>;

export type Connection<K extends DeviceKind> = Static<(typeof SHAPES)[K]['connection']>;
export type ReadSpec<K extends DeviceKind> = Static<(typeof SHAPES)[K]['read']>;
export type WriteSpec<K extends DeviceKind> = Static<(typeof SHAPES)[K]['write']>;

const Free = Type.Record(Type.String(), Type.Unknown());
export const APPROVALS = ['none', 'ask', 'second_person'] as const;

export const VariableShape = named(
  'IotVariable',
  Type.Object(
    {
      name: Name,
      unit: Type.Optional(Type.String({ maxLength: 40, pattern: '^[!-~]*$', description: 'UCUM, for example Cel or kW.h.' })),
      type: Type.Enum(['number', 'integer', 'boolean', 'text']),
      access: Type.Enum(['read', 'write', 'read_write']),
      min: Type.Optional(Type.Number()),
      max: Type.Optional(Type.Number()),
      step: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: 'From `min`, or from 0.' })),
      max_change_per_minute: Type.Optional(
        Type.Number({ exclusiveMinimum: 0, description: 'All changes of a minute together, up and down.' }),
      ),
      stale_after_seconds: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1e7, description: '60 by default.' })),
      approval: Type.Optional(
        Type.Enum([...APPROVALS], { description: '`none` by default; who writes asks, or another person decides.' }),
      ),
      exposed: Type.Optional(Type.Boolean({ description: 'Models may see it; false by default.' })),
      interlocks: Type.Optional(
        Type.Array(Type.Object({ variable: Name, equals: Scalar }, closed), {
          maxItems: 20,
          description: 'It is written only while these variables of the device have these values for certain.',
        }),
      ),
      read: Type.Optional(Free),
      write: Type.Optional(Free),
    },
    closed,
  ),
);
export type Variable = Static<typeof VariableShape>;
export type Value = number | boolean | string;

export const DeviceName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[^\\u0000-\\u001f\\u007f]*\\S[^\\u0000-\\u001f\\u007f]*$',
});
export const Variables = Type.Array(VariableShape, { minItems: 1, maxItems: 200 });
export const ConnectionShape = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'By kind: simulated `{}`, http `{url}`, homeassistant `{url}`, modbus_tcp `{host, port, unit_id}`, mqtt `{url, version, user}`.',
});

/** A device as the database keeps it. */
export interface Device {
  readonly tenant: string;
  readonly id: string;
  readonly name: string;
  readonly kind: DeviceKind;
  readonly connection: Readonly<Record<string, unknown>>;
  readonly variables: readonly Variable[];
  readonly isEnabled: boolean;
  /** The node that has the connection. */
  readonly node: string;
  readonly sealedKey: string | null;
  readonly sealedBy: string | null;
  readonly updatedAt: number;
}

export function isReadable({ access }: Variable): boolean {
  return access !== 'write';
}

export function isWritable({ access }: Variable): boolean {
  return access !== 'read';
}

const STALE_AFTER_SECONDS = 60;

export function staleAfterMs({ stale_after_seconds: seconds = STALE_AFTER_SECONDS }: Variable): number {
  return seconds * 1000;
}
