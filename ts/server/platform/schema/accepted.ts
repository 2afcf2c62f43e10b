/** Says in words what a JSON schema accepts, for error sentences and the docs page. */

export type SchemaNode = Readonly<Record<string, unknown>>;

export function describeAccepted(schema: SchemaNode): string {
  const alternatives = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(alternatives)) return describeAlternatives(alternatives as SchemaNode[]);
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (Array.isArray(schema['enum'])) return `one of ${schema['enum'].map((value) => JSON.stringify(value)).join(', ')}`;
  if (Array.isArray(schema['type'])) return describeTypes(schema, schema['type'] as string[]);
  switch (schema['type']) {
    case 'string':
      return describeString(schema);
    case 'integer':
    case 'number':
      return `${schema['type'] === 'integer' ? 'an integer' : 'a number'}${range(schema)}`;
    case 'array':
      return describeArray(schema);
    case 'boolean':
      return 'true or false';
    case 'object':
      return typeof schema['maxProperties'] === 'number'
        ? `an object of at most ${schema['maxProperties']} members`
        : 'an object';
    case 'null':
      return 'null';
    default:
      return 'any JSON value';
  }
}

/** A list of types is one schema for each; null says what absent says and comes last. */
function describeTypes(schema: SchemaNode, types: readonly string[]): string {
  const sorted = [...types.filter((type) => type !== 'null'), ...types.filter((type) => type === 'null')];
  return sorted.map((type) => describeAccepted({ ...schema, type })).join(', or ');
}

function describeAlternatives(alternatives: readonly SchemaNode[]): string {
  const constants = alternatives.filter((one) => 'const' in one);
  if (constants.length > 1 && constants.length === alternatives.length) {
    return `one of ${constants.map((one) => JSON.stringify(one['const'])).join(', ')}`;
  }
  return [...new Set(alternatives.map(describeAccepted))].join(', or ');
}

function describeString(schema: SchemaNode): string {
  const min = schema['minLength'];
  const max = schema['maxLength'];
  if (typeof schema['pattern'] === 'string') return `a string that matches ${schema['pattern']}`;
  if (min === 1 && max === undefined) return 'a string that is not empty';
  if (typeof min === 'number' && typeof max === 'number') return `a string of ${min} to ${max} characters`;
  return typeof max === 'number' ? `a string of at most ${max} characters` : 'a string';
}

function describeArray(schema: SchemaNode): string {
  const min = schema['minItems'];
  const max = schema['maxItems'];
  const items = schema['items'];
  const of = typeof items === 'object' && items !== null ? `, each ${describeAccepted(items as SchemaNode)}` : '';
  const atLeast = typeof min === 'number' && min > 0 ? ` with at least ${min} item${min === 1 ? '' : 's'}` : '';
  const atMost = typeof max === 'number' ? `${atLeast === '' ? ' with' : ' and'} at most ${max} items` : '';
  return `an array${atLeast}${atMost}${of}`;
}

function range(schema: SchemaNode): string {
  const min = schema['minimum'];
  const max = schema['maximum'];
  const above = schema['exclusiveMinimum'];
  const below = schema['exclusiveMaximum'];
  if (typeof min === 'number' && typeof max === 'number') return ` from ${min} to ${max}`;
  const parts = [
    typeof min === 'number' ? `at least ${min}` : undefined,
    typeof above === 'number' ? `above ${above}` : undefined,
    typeof max === 'number' ? `at most ${max}` : undefined,
    typeof below === 'number' ? `below ${below}` : undefined,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? '' : ` ${parts.join(' and ')}`;
}
