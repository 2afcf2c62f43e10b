/** An adapter is a source of records as data. How it is asked, how fast, and how its answers are read, is one JSON file under this schema. */
import Type, { type Static } from 'typebox';
import { CATEGORIES } from '../../../platform/module/module-names.ts';

const closed = { additionalProperties: false } as const;
/** Names of tools are made of them, in which a point and an underscore are the same for some models. */
const Name = Type.String({ pattern: '^[a-z][a-z0-9]{0,29}$' });
const Sentence = Type.String({ minLength: 1, maxLength: 1_000 });
const HttpUrl = Type.String({ pattern: '^https?://[^\\s@]+$', maxLength: 500 });
const Form = Type.Enum(['json', 'xml', 'csv']);
/** Steps from the answer to a value, see value-at.ts. */
const Path = Type.String({ maxLength: 300 });
/** `{name}` stands for a parameter, `{name|filter}` for a parameter as the filter writes it, see template.ts. */
const Template = Type.String({ maxLength: 2_000 });

/** How one text is made of a record, see field.ts. */
const Field = Type.Union([
  Path,
  Type.Object(
    {
      path: Type.Optional(Type.Union([Path, Type.Array(Path, { minItems: 1, maxItems: 10 })])),
      /** For each of the values at this path, what `of` makes of it. */
      each: Type.Optional(Path),
      of: Type.Optional(Type.Union([Path, Type.Object({ join: Type.Array(Path, { minItems: 1, maxItems: 6 }) }, closed)])),
      join: Type.Optional(Type.Array(Path, { minItems: 1, maxItems: 10 })),
      template: Type.Optional(Template),
      text: Type.Optional(Type.String({ maxLength: 200 })),
      as: Type.Optional(Type.Enum(['plain', 'date', 'seconds', 'milliseconds', 'parts', 'inverted'])),
    },
    closed,
  ),
]);

const Parameter = Type.Object(
  {
    type: Type.Enum(['string', 'integer', 'number', 'date']),
    description: Sentence,
    required: Type.Optional(Type.Boolean()),
    default: Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Number()])),
    choices: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 100 })),
    pattern: Type.Optional(Type.String({ maxLength: 200 })),
    minimum: Type.Optional(Type.Number()),
    maximum: Type.Optional(Type.Number()),
  },
  closed,
);

const Request = Type.Object(
  {
    path: Template,
    query: Type.Record(
      Type.String({ pattern: '^[^\\s]{1,100}$' }),
      Type.Union([
        Template,
        Type.Object({ join: Type.Array(Template, { minItems: 1, maxItems: 10 }), with: Type.String({ maxLength: 20 }) }, closed),
      ]),
    ),
  },
  closed,
);

const Value = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 100 }), value: Field, unit: Type.Optional(Field) },
  closed,
);

const Operation = Type.Object(
  {
    summary: Sentence,
    /** It finds records by words, so that a query over several sources asks it. */
    is_query: Type.Optional(Type.Boolean()),
    parameters: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,39}$' }), Parameter),
    /** A request before, whose answer has the ids that `{ids}` stands for. */
    first: Type.Optional(Type.Object({ request: Request, ids: Path, total: Type.Optional(Path) }, closed)),
    request: Request,
    form: Form,
    /** With which the source says that it found nothing, where that is none of success. */
    empty_status: Type.Optional(Type.Integer({ minimum: 204, maximum: 499 })),
    separator: Type.Optional(Type.Enum([',', ';', '\t', '|'])),
    /** The path to the records; empty: the answer is one. */
    records: Path,
    /** They are columns of values there, and a record is what stands at one place of all of them. */
    is_columns: Type.Optional(Type.Boolean()),
    total: Type.Optional(Path),
    paging: Type.Optional(
      Type.Object(
        { by: Type.Enum(['offset', 'page', 'cursor']), first: Type.Optional(Type.String()), next: Type.Optional(Path) },
        closed,
      ),
    ),
    /** One request brings so many at most. */
    max_rows: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    record: Type.Object(
      {
        kind: Type.String({ pattern: '^[a-z][a-z_]{0,39}$' }),
        id: Field,
        title: Field,
        creators: Type.Optional(Field),
        date: Type.Optional(Field),
        url: Type.Optional(Field),
        doi: Type.Optional(Field),
        summary: Type.Optional(Field),
        license: Type.Optional(Field),
        values: Type.Optional(Type.Array(Value, { maxItems: 40 })),
      },
      closed,
    ),
  },
  closed,
);

const Rate = Type.Object(
  { requests: Type.Integer({ minimum: 1, maximum: 10_000 }), per_seconds: Type.Number({ minimum: 0.1, maximum: 86_400 }) },
  closed,
);

export const Adapter = Type.Object(
  {
    id: Name,
    name: Type.String({ minLength: 1, maxLength: 100 }),
    category: Type.Enum([...CATEGORIES]),
    description: Sentence,
    homepage: HttpUrl,
    terms_url: HttpUrl,
    /** It holds for records that do not say themselves. */
    license: Type.String({ minLength: 1, maxLength: 100 }),
    base_url: HttpUrl,
    /** Other hosts of its API that paths may begin with, as whole addresses. */
    hosts: Type.Optional(Type.Array(HttpUrl, { maxItems: 5 })),
    /** Query parameters with which each request names the client, and the contact of the setting. */
    identify: Type.Optional(Type.Record(Type.String({ pattern: '^[A-Za-z_]{1,40}$' }), Template)),
    key: Type.Optional(
      Type.Object(
        {
          in: Type.Enum(['query', 'header']),
          name: Type.String({ pattern: '^[A-Za-z0-9_-]{1,60}$' }),
          prefix: Type.Optional(Type.String({ maxLength: 20 })),
          required: Type.Boolean(),
          url: HttpUrl,
        },
        closed,
      ),
    ),
    rate: Rate,
    rate_with_key: Type.Optional(Rate),
    /** How long an answer is used again. */
    cache_seconds: Type.Integer({ minimum: 0, maximum: 86_400 }),
    operations: Type.Record(Name, Operation),
  },
  closed,
);

export type Adapter = Static<typeof Adapter>;
export type Operation = Static<typeof Operation>;
export type Field = Static<typeof Field>;
export type Parameter = Static<typeof Parameter>;
export type RequestTemplate = Static<typeof Request>;
