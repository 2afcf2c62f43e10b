/** The parameters of an operation as the schema that its tool shows, and as the arguments of its address. */
import Type, { type TProperties, type TSchema } from 'typebox';
import type { Operation, Parameter } from './adapters/adapter.ts';
import type { Arguments } from './requests/template.ts';

export const MOST_RECORDS = 200;
export const DEFAULT_RECORDS = 10;
const MOST_CHARACTERS = 1_000;
export const DATE = '^\\d{4}-\\d{2}-\\d{2}$';

export function inputOf({ parameters, max_rows: maxRows }: Operation) {
  const properties: TProperties = Object.fromEntries(Object.entries(parameters).map(([name, one]) => [name, schemaOf(one)]));
  if (maxRows !== undefined)
    properties['limit'] = Type.Optional(
      Type.Integer({ minimum: 1, maximum: MOST_RECORDS, description: `How many records; ${DEFAULT_RECORDS} by default.` }),
    );
  return Type.Object(properties, { additionalProperties: false });
}

function schemaOf({ type, description, required, default: byDefault, choices, pattern, minimum, maximum }: Parameter): TSchema {
  const more = { description, ...(byDefault !== undefined && { default: byDefault }) };
  const range = { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) };
  const schema = (): TSchema => {
    if (choices !== undefined) return Type.Enum([...choices], more);
    if (type === 'integer') return Type.Integer({ ...more, ...range });
    if (type === 'number') return Type.Number({ ...more, ...range });
    if (type === 'date') return Type.String({ ...more, pattern: DATE });
    return Type.String({ ...more, minLength: 1, maxLength: MOST_CHARACTERS, pattern: pattern ?? '\\S' });
  };
  return required === true ? schema() : Type.Optional(schema());
}

/** The arguments that were given, and those that stand for themselves. */
export function argumentsOf({ parameters }: Operation, given: Readonly<Record<string, unknown>>): Arguments {
  return Object.fromEntries(
    Object.entries(parameters).flatMap(([name, { default: byDefault }]) => {
      const value = (given[name] ?? byDefault) as string | number | undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
