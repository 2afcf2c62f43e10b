/** TypeScript types of every route's parameters, body and answer, from the OpenAPI document. */

interface Schema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
}

interface Content {
  content?: Record<string, { schema?: Schema }>;
}

interface Operation {
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[];
  requestBody?: Content & { required?: boolean };
  responses: Record<string, Content>;
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const HEAD =
  '/** Generated from openapi.json by `npm run openapi`: what every route takes and answers. */\n' +
  '// biome-ignore-all format: one line a route shows in a review which route changed\n';

export function routeTypes({ paths }: OpenApiDocument): string {
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    METHODS.flatMap((method) => {
      const operation = operations[method];
      return operation === undefined ? [] : [`  ${quote(`${method.toUpperCase()} ${path}`)}: ${operationType(operation)};`];
    }),
  );
  return `${HEAD}export interface Routes {\n${routes.join('\n')}\n}\n`;
}

function operationType({ parameters = [], requestBody, responses }: Operation): string {
  const parts = [
    ...parametersType('params', parameters, 'path'),
    ...parametersType('query', parameters, 'query'),
    ...bodyType(requestBody),
    `answer: ${answerType(responses)}`,
  ];
  return `{ ${parts.join('; ')} }`;
}

function parametersType(name: string, parameters: NonNullable<Operation['parameters']>, place: string): string[] {
  const own = parameters.filter((parameter) => parameter.in === place);
  if (own.length === 0) return [];
  const isNeeded = own.some(({ required }) => required);
  const members = own.map(({ name, required, schema }) => `${key(name)}${required ? '' : '?'}: ${typeOf(schema ?? {})}`);
  return [`${name}${isNeeded ? '' : '?'}: { ${members.join('; ')} }`];
}

/** A body that is no JSON is a file. */
function bodyType(body: Operation['requestBody']): string[] {
  if (body === undefined) return [];
  const schema = body.content?.['application/json']?.schema;
  return [`body${body.required ? '' : '?'}: ${schema === undefined ? 'Blob' : typeOf(schema)}`];
}

function answerType(responses: Operation['responses']): string {
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => content?.['application/json']?.schema)
    .map((schema) => (schema === undefined ? 'undefined' : typeOf(schema)));
  return [...new Set(types)].join(' | ') || 'undefined';
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' | ');
  const types = schema.type === undefined ? [] : [schema.type].flat();
  return types.length === 0 ? 'unknown' : types.map((type) => typeOfKind(type, schema)).join(' | ');
}

function typeOfKind(type: string, schema: Schema): string {
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'string' || type === 'boolean' || type === 'null') return type;
  if (type === 'array') return `(${typeOf(schema.items ?? {})})[]`;
  return objectType(schema);
}

function objectType({ properties = {}, required = [], additionalProperties, patternProperties }: Schema): string {
  const members = Object.entries(properties).map(
    ([name, schema]) => `${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  if (members.length > 0 && additionalProperties !== true) return `{ ${members.join('; ')} }`;
  const values = patternProperties === undefined ? undefined : Object.values(patternProperties)[0];
  if (members.length === 0) return `Record<string, ${values === undefined ? 'unknown' : typeOf(values)}>`;
  return `{ ${members.join('; ')}; [key: string]: unknown }`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? quote(value) : JSON.stringify(value);
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
}
