/** Whether an answer is one that the reference lists for its operation: the status, the code of an error, the shape of a success. */
import type { TSchema } from 'typebox';
import { SchemaCheck } from '../../ts/server/platform/schema/schema-check.ts';
import type { Answer } from './client.ts';

interface Response {
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: unknown } | undefined>>;
}

export interface Operation {
  readonly requestBody?: { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Response | undefined>>;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const checks = new WeakMap<object, SchemaCheck>();

/** Undefined: nothing is wrong. */
export function documentationFault(operation: Operation, { status, headers, text }: Answer): string | undefined {
  const response = operation.responses[status];
  if (response === undefined) return `answers ${status}, which is not documented: ${text.slice(0, 200)}`;
  const isJson = /^application\/(\w+\+)?json/.test(headers['content-type'] ?? '') && text !== '';
  if (status >= 400) return errorFault(response, isJson ? codeOf(JSON.parse(text)) : undefined, status);
  const schema = response.content?.['application/json']?.schema;
  if (!isJson || typeof schema !== 'object' || schema === null || JSON.stringify(schema).includes('"$ref"')) return undefined;
  const check = checks.get(schema) ?? new SchemaCheck(schema as TSchema);
  checks.set(schema, check);
  const fault = check.findFault(JSON.parse(text), 'the answer');
  return fault && `answers ${status} with a body that is not documented: ${fault.sentence}`;
}

function errorFault({ description = '' }: Response, code: string | undefined, status: number): string | undefined {
  if (code === undefined) return `answers ${status} without an error code`;
  return description.includes(`\`${code}\``) ? undefined : `answers ${status} with the code ${code}, which is not documented`;
}

function codeOf({ error }: { error?: unknown }): string | undefined {
  if (typeof error === 'string') return error;
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
