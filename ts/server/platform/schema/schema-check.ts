/** A compiled schema, and the one sentence that says what is wrong with a value. */
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { describeAccepted, type SchemaNode } from './accepted.ts';
import { findExcess } from './excess.ts';
import { effectOf } from './member-effect.ts';
import { FEW_MEMBERS, hasFewMembers, memberNames, narrow } from './narrow.ts';

// Unions report each branch; the default of 8 would cut the one that matters.
Settings.Set({ maxErrors: 64 });

export interface SchemaFault {
  /** Dotted name of the offending member, for example `messages[0].role`; empty for the whole value. */
  member: string;
  sentence: string;
  /** The member is one that the schema names as refused, see member-effect.ts. */
  isUnsupported?: true;
}

export class SchemaCheck {
  readonly #declared: TSchema;
  /** Compiled with the first value, since a server declares many more schemas than its first requests use. */
  #validator: Validator | undefined;
  #names: ReadonlySet<string> | undefined;

  constructor(schema: TSchema) {
    this.#declared = schema;
  }

  get #schema(): SchemaNode {
    return this.#declared as unknown as SchemaNode;
  }

  /** Undefined: the value is what the schema wants. `whole` names the value in the sentence, for example "the request body". */
  findFault(value: unknown, whole: string): SchemaFault | undefined {
    this.#validator ??= Compile(this.#declared);
    if (this.#validator.Check(value)) return undefined;
    const telling = this.#findTelling(this.#validator, value);
    return telling === undefined ? { member: '', sentence: `${whole} is not valid.` } : this.#describe(telling, value, whole);
  }

  /** It describes few members of a value that has many. */
  #findTelling(validator: Validator, value: unknown): Telling | undefined {
    if (hasFewMembers(value)) return mostTelling(validator.Errors(value));
    this.#names ??= memberNames(this.#schema);
    if (this.#names === undefined) return undefined;
    const narrowed = narrow(value, this.#names, (part) => !validator.Check(part));
    const isSmall = narrowed.size <= FEW_MEMBERS;
    const telling = isSmall ? mostTelling(validator.Errors(narrowed.value)) : findExcess(this.#schema, narrowed.value);
    if (telling === undefined) return undefined;
    return { ...telling, error: { ...telling.error, instancePath: narrowed.locate(telling.error.instancePath) } };
  }

  /** Strings of a query or path become the numbers and booleans that the schema wants, where they read as such. */
  convert(raw: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return readTexts(this.#schema, raw);
  }

  #describe({ error, accepted }: Telling, value: unknown, whole: string): SchemaFault {
    const refused = this.#refusedMember(error);
    if (refused !== undefined) return refused;
    const node = nodeAt(this.#schema, error.schemaPath);
    if (error.keyword === 'required') return describeMissing(error, node, whole);
    const member = memberName(error.instancePath);
    if (isUnknownMember(error)) return { member, sentence: `${subject(member, whole)} is not known here; leave it out.` };
    const found = valueAt(value, error.instancePath);
    const given = error.keyword === 'maxProperties' ? `one of ${Object.keys(found as object).length}` : describeGiven(found);
    const wanted = accepted ?? (node === undefined ? 'something else' : describeAccepted(node));
    return { member, sentence: `${subject(member, whole)} must be ${wanted}; ${given} was given.` };
  }

  /** The description of such a member says what to do in its place. */
  #refusedMember({ schemaPath, instancePath }: FoundError): SchemaFault | undefined {
    let node: SchemaNode | undefined = this.#schema;
    let depth = 0;
    for (const token of pointerTokens(schemaPath)) {
      node = node?.[token] as SchemaNode | undefined;
      if (token === 'properties') depth++;
      if (node === undefined || effectOf(node) !== 'refused') continue;
      const member = pointerTokens(instancePath).slice(0, depth).join('.');
      return { member, sentence: `\`${member}\` is not served with this value. ${node['description']}`, isUnsupported: true };
    }
    return undefined;
  }
}

/** A schema that takes no further members refuses each of them by the schema `false`, which describes nothing. */
function isUnknownMember({ keyword, schemaPath }: FoundError): boolean {
  return keyword === 'boolean' && schemaPath.endsWith('/additionalProperties');
}

function describeMissing(error: FoundError, node: SchemaNode | undefined, whole: string): SchemaFault {
  const missing = (error.params as { requiredProperties: string[] }).requiredProperties[0] ?? '';
  const properties = (node?.['properties'] ?? {}) as Record<string, SchemaNode | undefined>;
  const parent = memberName(error.instancePath);
  const member = parent === '' ? missing : `${parent}.${missing}`;
  const wanted = properties[missing];
  const accepted = wanted === undefined ? '' : `: ${describeAccepted(wanted)}`;
  return { member, sentence: `${subject(member, whole)} is required${accepted}.` };
}

/** Paths are JSON pointers. */
interface FoundError {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  params: object;
}

interface Telling {
  error: FoundError;
  /** What all branches of a union together accept there. */
  accepted?: string;
}

/**
 * A union fails with the errors of every branch. Branches whose type matched are looked into; of those, the one whose discriminator
 * (a constant member, such as the type of a content part) matched too. When none did, its accepted values are the answer.
 */
function mostTelling(errors: readonly FoundError[]): Telling | undefined {
  const [first] = errors;
  if (first === undefined) return undefined;
  const union = errors.findLast((error) => isUnion(error) && first.schemaPath.startsWith(`${error.schemaPath}/`));
  if (union === undefined) return { error: first };
  const branches = Map.groupBy(
    errors.filter((error) => error.schemaPath.startsWith(`${union.schemaPath}/${union.keyword}/`)),
    (error) => branchOf(error, union),
  );
  const entered = [...branches.values()].filter((branch) => branch.every((error) => depth(error) > depth(union)));
  if (entered.length === 0) return { error: union };
  const matching = entered.filter(
    (branch) => !branch.some((error) => error.keyword === 'const' && depth(error) === depth(union) + 1),
  );
  return matching[0] === undefined ? wrongDiscriminator(entered.flat()) : mostTelling(matching[0]);
}

function wrongDiscriminator(errors: readonly FoundError[]): Telling | undefined {
  const [error, ...others] = errors.filter((one) => one.keyword === 'const');
  if (error === undefined) return undefined;
  const same = [error, ...others].filter((one) => one.instancePath === error.instancePath);
  const values = same.map((one) => JSON.stringify((one.params as { allowedValue: unknown }).allowedValue));
  return { error, accepted: values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}` };
}

function isUnion(error: FoundError): boolean {
  return error.keyword === 'anyOf' || error.keyword === 'oneOf';
}

function branchOf(error: FoundError, union: FoundError): string {
  return error.schemaPath.slice(union.schemaPath.length).split('/')[2] ?? '';
}

function depth(error: FoundError): number {
  return error.instancePath.split('/').length + (error.keyword === 'required' ? 1 : 0);
}

function subject(member: string, whole: string): string {
  return member === '' ? whole : `\`${member}\``;
}

function pointerTokens(pointer: string): string[] {
  return pointer
    .replace(/^#/, '')
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function memberName(instancePath: string): string {
  const name = pointerTokens(instancePath).map((token) => (/^\d+$/.test(token) ? `[${token}]` : `.${token}`));
  return name.join('').replace(/^\./, '').slice(0, 200);
}

function nodeAt(schema: SchemaNode, schemaPath: string): SchemaNode | undefined {
  return valueAt(schema, schemaPath) as SchemaNode | undefined;
}

function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const token of pointerTokens(pointer)) value = (value as Record<string, unknown> | undefined)?.[token];
  return value;
}

function describeGiven(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length} items`;
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  return value.length > 60 ? `${JSON.stringify(value.slice(0, 60))}... (${value.length} characters)` : JSON.stringify(value);
}

/** Texts of a query or path as the numbers and booleans that a schema wants, where they are written as such and as nothing else. */
const INTEGER = /^-?\d{1,15}$/;
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;
const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Members of an object by the schema's properties. What cannot be read stays a text, which the schema then refuses. */
export function readTexts(schema: SchemaNode, raw: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = (schema['properties'] ?? {}) as Record<string, SchemaNode | undefined>;
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [
      name,
      readText(Object.hasOwn(properties, name) ? properties[name] : undefined, value),
    ]),
  );
}

function readText(node: SchemaNode | undefined, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => readText(node?.['items'] as SchemaNode | undefined, item));
  if (typeof value !== 'string') return value;
  switch (node?.['type']) {
    case 'integer':
      return INTEGER.test(value) ? Number(value) : value;
    case 'number':
      return NUMBER.test(value) ? Number(value) : value;
    case 'boolean':
      return BOOLEANS.get(value) ?? value;
    default:
      return value;
  }
}
