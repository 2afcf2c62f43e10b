/** Shapes of the cloud API. Times are ISO 8601 in UTC; money for a million tokens is a decimal string. */
import Type, { type Static, type TSchema } from 'typebox';
import { named } from '../../platform/schema/named.ts';
import { ServingReasonShape } from '../inference/index.ts';
import { KIND_NAMES, PRESETS } from './kinds/kind.ts';
import { PRICE_PATTERN, PRICED } from './prices/price.ts';

const CLOSED = { additionalProperties: false };
const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const Time = Type.String({ description: 'ISO 8601, UTC.' });
const Id = Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,63}$' });
const NodeId = Type.String({ pattern: '^[0-9a-f-]{1,64}$' });
const ModelName = Type.String({ minLength: 1, maxLength: 200 });
const Money = Type.String({ pattern: PRICE_PATTERN });
const Milliseconds = Type.Integer({ minimum: 1, maximum: 3_600_000 });
const Limit = Nullable(Type.Integer({ minimum: 1, maximum: 2 ** 40 }));

const PriceShape = Type.Object(
  {
    ...(Object.fromEntries(PRICED.map((name) => [name, Type.Optional(Money)])) as Record<
      (typeof PRICED)[number],
      Type.TOptional<Type.TString>
    >),
    currency: Type.String({ pattern: '^[A-Z]{3}$' }),
    source: Type.Optional(Type.String({ maxLength: 400 })),
    date: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })),
  },
  CLOSED,
);
const PriceTableShape = Type.Record(ModelName, PriceShape, { maxProperties: 2_000 });

const ModelFilterShape = Type.Object(
  {
    include: Type.Optional(
      Type.Array(ModelName, { maxItems: 200, description: 'Names; a star stands for any characters. All by default.' }),
    ),
    exclude: Type.Optional(Type.Array(ModelName, { maxItems: 200 })),
    alias: Type.Optional(
      Type.Record(ModelName, ModelName, { maxProperties: 200, description: 'A name here, and the provider’s own.' }),
    ),
  },
  CLOSED,
);
const LimitsShape = Type.Object(
  {
    concurrent: Type.Optional(Limit),
    requests_per_minute: Type.Optional(Limit),
    tokens_per_minute: Type.Optional(Limit),
  },
  CLOSED,
);
const TimeoutsShape = Type.Object(
  {
    connect_ms: Type.Optional(Milliseconds),
    first_byte_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000, description: 'To the first content.' })),
    idle_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000, description: 'Between two whole events.' })),
  },
  CLOSED,
);

const changeable = {
  base_url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'With /v1 for what speaks OpenAI’s API, without a path for others.',
    }),
  ),
  key: Type.Optional(
    Nullable(Type.String({ minLength: 1, maxLength: 8192, description: 'Kept sealed, and never shown again.' })),
  ),
  api_key_env: Type.Optional(
    Nullable(
      Type.String({ maxLength: 128, description: 'A variable of the server’s environment, read at each use: NAME_API_KEY.' }),
    ),
  ),
  preset: Type.Optional(Type.Enum([...PRESETS], { description: 'Of the kind openai: what else the provider takes.' })),
  api_version: Type.Optional(Type.String({ maxLength: 64, description: 'Of the kind azure, for example 2024-10-21.' })),
  region: Type.Optional(Type.String({ maxLength: 64, description: 'Of the kind bedrock, for example eu-central-1.' })),
  headers: Type.Optional(
    Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Type.String({ maxLength: 4096 }), {
      maxProperties: 20,
      description: 'Further fields of each request. Their values are kept sealed and shown as "set".',
    }),
  ),
  model_filter: Type.Optional(ModelFilterShape),
  priority: Type.Optional(Type.Integer({ minimum: -1000, maximum: 1000, description: 'The smaller comes first.' })),
  weight: Type.Optional(Type.Number({ minimum: 0, maximum: 1000 })),
  limits: Type.Optional(LimitsShape),
  timeouts: Type.Optional(TimeoutsShape),
  on_client_gone: Type.Optional(
    Type.Enum(['cancel', 'drain'], { description: 'drain reads on for the exact figures, for up to 30 s.' }),
  ),
  tenants: Type.Optional(
    Nullable(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 1_000, description: 'Who may use it; null: everybody.' })),
  ),
  prices: Type.Optional(PriceTableShape),
  enabled: Type.Optional(Type.Boolean()),
};

export const BackendId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) });
export const NewBackend = named(
  'NewCloudBackend',
  Type.Object({ id: Id, kind: Type.Enum([...KIND_NAMES]), ...changeable, base_url: Type.Optional(changeable.base_url) }, CLOSED),
);
export const BackendPatch = named('CloudBackendPatch', Type.Object(changeable, CLOSED));

const ServingStateShape = Type.Enum(['ok', 'checking', 'backend_unhealthy', 'disabled']);
const ReasonShape = Nullable(ServingReasonShape);

const OfferedModel = Type.Object({
  id: Type.String({ description: 'The name here.' }),
  model: Type.String({ description: 'The provider’s own.' }),
  serving_state: ServingStateShape,
});

const publicMembers = { id: Type.String(), kind: Type.String(), serving_state: ServingStateShape };

export const Backend = named(
  'CloudBackend',
  Type.Object({
    ...publicMembers,
    base_url: Type.String(),
    preset: Type.String(),
    api_version: Type.String(),
    region: Type.String(),
    api_key_env: Nullable(Type.String()),
    key_present: Type.Boolean({ description: 'This node can read the key now.' }),
    headers: Type.Record(Type.String(), Type.String()),
    model_filter: Type.Object({
      include: Type.Array(Type.String()),
      exclude: Type.Array(Type.String()),
      alias: Type.Record(Type.String(), Type.String()),
    }),
    priority: Type.Integer(),
    weight: Type.Number(),
    limits: Type.Object({
      concurrent: Nullable(Type.Integer()),
      requests_per_minute: Nullable(Type.Integer()),
      tokens_per_minute: Nullable(Type.Integer()),
    }),
    timeouts: Type.Object({ connect_ms: Type.Integer(), first_byte_ms: Type.Integer(), idle_ms: Type.Integer() }),
    on_client_gone: Type.String(),
    tenants: Nullable(Type.Array(Type.String())),
    prices: Type.Record(Type.String(), Type.Record(Type.String(), Type.String())),
    enabled: Type.Boolean(),
    serving_state_reason: ReasonShape,
    models: Type.Array(OfferedModel),
    first_content_ms: Nullable(Type.Integer({ description: 'Of the last answers, until they began.' })),
    node: Type.String(),
    created_at: Time,
    checked_at: Nullable(Time),
  }),
);
export const BackendList = named('CloudBackendList', Type.Object({ data: Type.Array(Backend) }));
export const RecheckedBackend = named(
  'RecheckedCloudBackend',
  Type.Object({
    ...Backend.properties,
    recheck: Type.Object({
      model: Nullable(Type.String({ description: 'Whose answer of one token was asked for; null: the list of models was.' })),
      milliseconds: Type.Integer(),
      cost_micros: Nullable(Type.Integer({ description: 'Null: the price is not known.' })),
      currency: Nullable(Type.String()),
    }),
  }),
);
export const PublicBackends = named(
  'PublicCloudBackends',
  Type.Object({ data: Type.Array(Type.Object({ ...publicMembers, models: Type.Array(Type.String()) })) }),
);
export const BackendsElsewhere = named(
  'CloudBackendsElsewhere',
  Type.Object({
    data: Type.Array(
      Type.Object({
        id: Type.String(),
        node: Type.String({ description: 'Id of the node that has its key.' }),
        node_is_lost: Type.Boolean({ description: 'That node does not run: another one may take its backends over.' }),
        kind: Type.String(),
        base_url: Type.String(),
        models: Type.Array(Type.String()),
      }),
    ),
  }),
);
export const TakeoverOrder = named('CloudTakeover', Type.Object({ node: NodeId }, CLOSED));
export const TakenBackends = named(
  'TakenCloudBackends',
  Type.Object({
    taken: Type.Array(Type.String({ description: 'Ids of backends that are this node’s from now on.' })),
    deleted: Type.Array(Type.String({ description: 'Those of a name that this node had already.' })),
  }),
);
export const UnconfiguredKeys = named('UnconfiguredCloudKeys', Type.Object({ data: Type.Array(Type.String()) }));

const RouteTargetShape = Type.Object(
  {
    backend: Id,
    model: ModelName,
    weight: Type.Optional(Type.Number({ minimum: 0, maximum: 1000 })),
    priority: Type.Optional(Type.Integer({ minimum: -1000, maximum: 1000 })),
  },
  CLOSED,
);
export const RouteChange = named(
  'CloudRouteChange',
  Type.Object(
    {
      targets: Type.Array(RouteTargetShape, { minItems: 1, maxItems: 50 }),
      strategy: Type.Optional(Type.Enum(['priority', 'weighted', 'latency', 'cost'])),
      fallbacks: Type.Optional(
        Type.Array(ModelName, { maxItems: 20, description: 'Models that answer when no target does, also of this node.' }),
      ),
      hedge_ms: Type.Optional(
        Nullable(
          Type.Integer({
            minimum: 1,
            maximum: 600_000,
            description: 'A second target is asked when the first has said nothing for so long.',
          }),
        ),
      ),
    },
    CLOSED,
  ),
);
export const Route = named(
  'CloudRoute',
  Type.Object({
    id: Type.String(),
    targets: Type.Array(
      Type.Object({ backend: Type.String(), model: Type.String(), weight: Type.Number(), priority: Type.Integer() }),
    ),
    strategy: Type.String(),
    fallbacks: Type.Array(Type.String()),
    hedge_ms: Nullable(Type.Integer()),
  }),
);
export const RouteList = named('CloudRouteList', Type.Object({ data: Type.Array(Route) }));

export const PriceChange = named('CloudPriceChange', Type.Object({ prices: PriceTableShape }, CLOSED));
export const PriceList = named(
  'CloudPriceList',
  Type.Object({
    data: Type.Array(
      Type.Object({
        model: Type.String(),
        origin: Type.Enum(['own', 'list'], { description: 'own: set here. list: of this version of svc.' }),
        ...PriceShape.properties,
      }),
    ),
  }),
);

export type NewBackendBody = Static<typeof NewBackend>;
export type BackendPatchBody = Static<typeof BackendPatch>;
export type RouteChangeBody = Static<typeof RouteChange>;
