/** Shapes of sources, queries and records. */
import Type, { type Static } from 'typebox';
import { CATEGORIES } from '../../platform/module/module-names.ts';
import { named } from '../../platform/schema/named.ts';
import type { TenantSource } from './service.ts';
import type { RequestRow } from './tables.ts';

const Nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const Time = Type.String({ format: 'date-time' });
const SourceId = Type.String({ pattern: '^[a-z][a-z0-9]{0,29}$' });
const Rate = Type.Object({ requests: Type.Integer(), per_seconds: Type.Number() });

export const SourceShape = named(
  'ScienceSource',
  Type.Object({
    id: Type.String(),
    category: Type.Enum([...CATEGORIES]),
    name: Type.String(),
    description: Type.String(),
    enabled: Type.Boolean({ description: 'Whether the tenant may ask it.' }),
    needs_key: Type.Boolean({ description: 'It answers nobody without one.' }),
    key_url: Nullable(Type.String({ description: 'Where keys are issued; null: it takes none.' })),
    key_present: Type.Boolean({ description: 'The key itself is never shown.' }),
    rate: Type.Object({ ...Rate.properties }, { description: 'Of all nodes together.' }),
    rate_with_key: Nullable(Rate),
    terms_url: Type.String(),
    homepage: Type.String(),
    license: Type.String({ description: 'Of its records, where they do not say themselves.' }),
    operations: Type.Array(
      Type.Object({
        name: Type.String(),
        tool: Type.String(),
        summary: Type.String(),
        is_query: Type.Boolean({ description: 'Queries over several sources ask it.' }),
      }),
    ),
  }),
);
export const SourceList = named('ScienceSourceList', Type.Object({ data: Type.Array(SourceShape) }));

export const CategoryList = named(
  'ScienceCategoryList',
  Type.Object({
    data: Type.Array(Type.Object({ category: Type.Enum([...CATEGORIES]), sources: Type.Integer(), enabled: Type.Integer() })),
  }),
);

export const ToolShapeList = named(
  'ScienceToolList',
  Type.Object({
    data: Type.Array(
      Type.Object({
        name: Type.String(),
        description: Type.String(),
        source: Type.String(),
        enabled: Type.Boolean(),
        input_schema: Type.Unknown({ description: 'JSON schema of the arguments.' }),
      }),
    ),
  }),
);

export const ChangeSource = named(
  'ScienceSourceChange',
  Type.Object(
    {
      enabled: Type.Optional(Type.Boolean()),
      key: Type.Optional(
        Type.Union([Type.String({ minLength: 1, maxLength: 500, pattern: '^[!-~]+$' }), Type.Null()], {
          description: 'Sealed by the node that gets it, and used there alone. null forgets it.',
        }),
      ),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
);

export const RequestSource = named(
  'ScienceSourceRequest',
  Type.Object(
    { source_id: SourceId, reason: Type.String({ minLength: 1, maxLength: 1_000, pattern: '\\S' }) },
    { additionalProperties: false },
  ),
);

const State = Type.Enum(['waiting', 'enabled', 'declined']);
export const RequestMade = named('ScienceSourceRequestMade', Type.Object({ request_id: Type.String(), state: State }));

export const RequestShape = named(
  'ScienceSourceRequestShown',
  Type.Object({
    id: Type.String(),
    source_id: Type.String(),
    owner: Type.String({ description: 'Who asked.' }),
    reason: Type.String(),
    state: State,
    created_at: Time,
    decided_at: Nullable(Time),
  }),
);

export const SourceParams = Type.Object({ id: Type.String({ pattern: '^[a-z][a-z0-9]{0,29}$' }) });
export const RequestParams = Type.Object({ id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$' }) });

const RecordShape = named(
  'ScienceRecord',
  Type.Object({
    id: Type.String({ description: 'As the source names it.' }),
    source: Type.String(),
    kind: Type.String({ description: 'article, dataset, protein, compound, observation ...' }),
    title: Type.String(),
    creators: Type.Array(Type.String()),
    date: Nullable(Type.String({ description: 'A year, a month, a day or a time, as exact as the source has it.' })),
    url: Nullable(Type.String()),
    doi: Type.Optional(Type.String()),
    summary: Type.Optional(Type.String()),
    values: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String(),
          value: Type.Union([Type.Number(), Type.String()]),
          unit: Nullable(Type.String()),
        }),
      ),
    ),
    license: Type.String(),
    retrieved_at: Time,
  }),
);

export const QueryAnswer = named(
  'ScienceQueryAnswer',
  Type.Object({
    records: Type.Array(RecordShape, { description: 'The best of each source first; a DOI that several have stands once.' }),
    raw: Type.Record(
      Type.String(),
      Type.Object({
        form: Type.Enum(['json', 'xml', 'csv']),
        pages: Type.Array(
          Type.Object({
            body: Type.String(),
            size_bytes: Type.Integer({ description: 'Of the whole answer.' }),
            cut_at: Nullable(Type.Integer({ description: 'Bytes; null: it is whole.' })),
          }),
        ),
      }),
      { description: 'By source, what it sent, as text: at most 1 MiB of each.' },
    ),
    failures: Type.Array(Type.Object({ source: Type.String(), error: Type.String(), detail: Type.String() })),
    took_ms: Type.Number(),
  }),
);

export function sourceBody({ adapter, isEnabled, hasKey }: TenantSource): Static<typeof SourceShape> {
  const { id, category, name, description, key, rate, rate_with_key: withKey = null, homepage, license, operations } = adapter;
  return {
    id,
    category,
    name,
    description,
    enabled: isEnabled,
    needs_key: key?.required === true,
    key_url: key?.url ?? null,
    key_present: hasKey,
    rate,
    rate_with_key: withKey,
    terms_url: adapter.terms_url,
    homepage,
    license,
    operations: Object.entries(operations).map(([operation, { summary, is_query: isQuery = false }]) => ({
      name: operation,
      tool: `science.${id}.${operation}`,
      summary,
      is_query: isQuery,
    })),
  };
}

export function requestBody({ id, source, owner, reason, state, created_at: at, decided_at: decided }: RequestRow) {
  return {
    id,
    source_id: source,
    owner,
    reason,
    state,
    created_at: new Date(at).toISOString(),
    decided_at: decided === null ? null : new Date(decided).toISOString(),
  };
}
