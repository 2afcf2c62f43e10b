/** What the keywords of one schema are: the types that they speak of, and their own forms. */
import type { Members } from '../members.ts';

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const impliedTypes: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    object:
      'properties required additionalProperties patternProperties propertyNames minProperties maxProperties dependentRequired dependentSchemas unevaluatedProperties dependencies',
    array: 'items prefixItems additionalItems minItems maxItems uniqueItems contains unevaluatedItems',
    string: 'pattern minLength maxLength format contentEncoding contentMediaType',
    number: 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
  }).flatMap(([type, keywords]) => keywords.split(' ').map((keyword) => [keyword, type])),
);

const allTypes = ['null', 'boolean', 'number', 'string', 'array', 'object'];

export function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

const annotations = new Set(
  'title description default examples example deprecated readOnly writeOnly $comment $schema $id $anchor $defs definitions'.split(
    ' ',
  ),
);

export function isAnnotation(keyword: string): boolean {
  return annotations.has(keyword);
}

/** Undefined: whole numbers alone cannot be left out. */
export function otherTypes(type: unknown): string[] | undefined {
  const types: unknown[] = Array.isArray(type) ? type : [type];
  if (types.includes('integer') && !types.includes('number')) return undefined;
  return allTypes.filter((each) => !types.includes(each));
}

function namedTypes(schema: Members): Set<string> | undefined {
  const { type } = schema;
  if (type === undefined) return undefined;
  return new Set((Array.isArray(type) ? type : [type]).map(String));
}

/** Undefined: any value, whose form nothing limits. */
export function typesOf(members: readonly Members[]): { names: Set<string>; isInteger: boolean } | undefined {
  const named = members.map(namedTypes).filter((types) => types !== undefined);
  const isInteger = named.some((types) => types.has('integer') && !types.has('number'));
  const implied = new Set(members.flatMap((schema) => Object.keys(schema).flatMap((keyword) => impliedTypes[keyword] ?? [])));
  if (named.length === 0) return implied.size === 0 ? undefined : { names: implied, isInteger };
  const isIn = (name: string) => named.every((types) => types.has(name) || (name === 'number' && types.has('integer')));
  return { names: new Set(allTypes.filter(isIn)), isInteger };
}

/** Those of truth values and null. */
export function fewValues(members: readonly Members[]): unknown[] | undefined {
  const named = members.map(namedTypes).filter((types) => types !== undefined);
  const names = allTypes.filter((name) => named.every((types) => types.has(name) || (name === 'number' && types.has('integer'))));
  if (named.length === 0 || names.some((name) => name !== 'null' && name !== 'boolean')) return undefined;
  return [...(names.includes('boolean') ? [true, false] : []), ...(names.includes('null') ? [null] : [])];
}

export function isEveryName(schema: unknown): boolean {
  if (typeof schema === 'boolean') return schema;
  return (
    isObject(schema) &&
    Object.entries(schema).every(([keyword, value]) => (keyword === 'type' ? value === 'string' : isAnnotation(keyword)))
  );
}

const forms: readonly [keywords: string, isRight: (value: unknown) => boolean, form: string][] = [
  ['allOf anyOf oneOf enum', (value) => Array.isArray(value) && value.length > 0, 'a list that is not empty'],
  ['prefixItems', Array.isArray, 'a list'],
  ['properties patternProperties dependentRequired dependentSchemas dependencies', isObject, 'an object'],
  ['required', (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'), 'a list of names'],
  ['pattern format $ref', (value) => typeof value === 'string', 'a string'],
  [
    'minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains',
    isCount,
    'a whole number from 0 on',
  ],
  ['minimum maximum multipleOf', isNumber, 'a number'],
  ['type', isTypes, 'the name of a type, or a list of them'],
];

/** What makes a schema none; the converter reads such parts as if they were not there, or fails. */
export function formFault(schema: Members): string | undefined {
  for (const [keywords, isRight, form] of forms)
    for (const keyword of keywords.split(' '))
      if (schema[keyword] !== undefined && !isRight(schema[keyword])) return `${keyword} must be ${form}`;
  return undefined;
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0;
}

function isTypes(value: unknown): boolean {
  const types: unknown[] = Array.isArray(value) ? value : [value];
  return types.length > 0 && types.every((type) => type === 'integer' || allTypes.includes(String(type)));
}
