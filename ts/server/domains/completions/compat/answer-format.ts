/** Reads what form the text of an answer must have: free, JSON, JSON of a schema, or a grammar. */
import { invalid } from '../errors.ts';
import type { SchemaReader } from './json-schema.ts';
import { asMembers, isMembers, type Members } from './members.ts';

export interface AnswerFormat {
  jsonSchema?: string;
  grammar?: string;
}

/** Schema of json_object: any object. */
const anyObject = '{"type":"object"}';

/** `format` is {type, schema?}; `schemaOf` finds the schema of json_schema, which the APIs keep in different places. */
export function readFormat(
  format: Members,
  schemaOf: (format: Members) => unknown,
  param: string,
  schemas: SchemaReader,
): AnswerFormat {
  switch (format['type']) {
    case 'text':
      return {};
    case 'json_object':
      // llama.cpp's form of json_object may carry a schema.
      return { jsonSchema: isMembers(format['schema']) ? textOf(format['schema'], `${param}.schema`, schemas) : anyObject };
    case 'json_schema': {
      const schema = schemaOf(format);
      if (!isMembers(schema)) throw invalid(param, `${param} of type json_schema must hold a JSON Schema object.`);
      return { jsonSchema: textOf(schema, `${param}.schema`, schemas) };
    }
    default:
      throw invalid(`${param}.type`, `${param}.type must be text, json_object or json_schema.`);
  }
}

/** Throws invalid_grammar that names the place of what cannot be followed. */
function textOf(schema: Members, param: string, schemas: SchemaReader): string {
  return JSON.stringify(schemas.read(schema, param));
}

export function chatSchema(format: Members): unknown {
  return asMembers(format['json_schema'], 'response_format.json_schema')['schema'];
}

/** The engine's own members may state the format too, but only one of them all. */
export function withEngineFormat(
  format: AnswerFormat,
  own: { grammar?: string | null; json_schema?: Record<string, unknown> | null },
  param: string,
  schemas: SchemaReader,
): AnswerFormat {
  const stated: AnswerFormat[] = [];
  if (format.jsonSchema !== undefined) stated.push(format);
  if (own.json_schema) stated.push({ jsonSchema: textOf(own.json_schema, 'json_schema', schemas) });
  if (own.grammar) stated.push({ grammar: own.grammar });
  if (stated.length > 1) throw invalid(param, `Give only one of ${param}, json_schema and grammar.`);
  return stated[0] ?? {};
}
