/** Reads what form the text of an answer must have: free, JSON, JSON of a schema, or a grammar. */
import type { ProviderMembers } from '../../inference/index.ts';
import { invalid } from '../errors.ts';
import type { SchemaReader } from './json-schema.ts';
import { asMembers, isMembers, type Members } from './members.ts';

export interface AnswerFormat {
  jsonSchema?: string;
  grammar?: string;
}

/** Schema of json_object: any object. */
const anyObject = '{"type":"object"}';

/** What the APIs have in different places of a format: the schema of json_schema, and whether all of it is followed. */
interface FormatShape {
  schemaOf: (format: Members) => unknown;
  isStrict: (format: Members) => boolean;
}

/** `format` is {type, schema?}. */
export function readFormat(format: Members, shape: FormatShape, param: string, schemas: SchemaReader): AnswerFormat {
  switch (format['type']) {
    case 'text':
      return {};
    case 'json_object':
      // llama.cpp's form of json_object may carry a schema.
      return {
        jsonSchema: isMembers(format['schema']) ? textOf(format['schema'], `${param}.schema`, false, schemas) : anyObject,
      };
    case 'json_schema': {
      const schema = shape.schemaOf(format);
      if (!isMembers(schema)) throw invalid(param, `${param} of type json_schema must hold a JSON Schema object.`);
      return { jsonSchema: textOf(schema, `${param}.schema`, shape.isStrict(format), schemas) };
    }
    default:
      throw invalid(`${param}.type`, `${param}.type must be text, json_object or json_schema.`);
  }
}

function textOf(schema: Members, param: string, isStrict: boolean, schemas: SchemaReader): string {
  schemas.ofAnswer = schema;
  try {
    return JSON.stringify(schemas.read(schema, { param, isStrict }));
  } catch (error) {
    return JSON.stringify(schemas.refuse(error));
  }
}

/** Reads what a model that runs elsewhere is told of the format: the schema as the client wrote it, and what stands beside it. */
export function providerFormat(named: unknown, { ofAnswer }: SchemaReader): ProviderMembers {
  const { name, strict, description } = isMembers(named) ? named : {};
  return {
    ...(ofAnswer !== undefined && { jsonSchema: JSON.stringify(ofAnswer) }),
    ...(typeof name === 'string' && { schemaName: name }),
    ...(typeof description === 'string' && { schemaDescription: description }),
    ...(typeof strict === 'boolean' && { isStrictSchema: strict }),
  };
}

const chatSchema = (format: Members) => asMembers(format['json_schema'], 'response_format.json_schema');

export const chatFormat: FormatShape = {
  schemaOf: (format) => chatSchema(format)['schema'],
  isStrict: (format) => chatSchema(format)['strict'] === true,
};

/** Of Responses. */
export const textFormat: FormatShape = {
  schemaOf: (format) => format['schema'],
  isStrict: (format) => format['strict'] !== false,
};

/** Messages have no schema that is not strict. */
export const outputFormat: FormatShape = { schemaOf: (format) => format['schema'], isStrict: () => true };

/** The engine's own members may state the format too, but only one of them all. */
export function withEngineFormat(
  format: AnswerFormat,
  own: { grammar?: string | null; json_schema?: Record<string, unknown> | null },
  param: string,
  schemas: SchemaReader,
): AnswerFormat {
  const stated: AnswerFormat[] = [];
  if (format.jsonSchema !== undefined) stated.push(format);
  if (own.json_schema) stated.push({ jsonSchema: textOf(own.json_schema, 'json_schema', false, schemas) });
  if (own.grammar) stated.push({ grammar: own.grammar });
  if (stated.length > 1) throw invalid(param, `Give only one of ${param}, json_schema and grammar.`);
  return stated[0] ?? {};
}
