/** Parts of an OpenAPI document that occur in many places are written once, under `components`. */

export type Json = Record<string, unknown>;

interface Components {
  schemas: Json;
  responses: Json;
  headers: Json;
}

/**
 * Schemas with a `title` move below their name, refusals below their codes, headers below theirs.
 * Throws when two different schemas have one name.
 */
export function shareParts(document: Json): Json {
  const { paths, components, ...rest } = JSON.parse(JSON.stringify(document)) as Json & { components: Partial<Components> };
  const shared: Components = { headers: {}, ...components, schemas: {}, responses: {} };
  const sharedPaths = shareSchemas(paths, shared.schemas) as Record<string, Record<string, { responses: Json }>>;
  for (const operation of Object.values(sharedPaths).flatMap((methods) => Object.values(methods)))
    operation.responses = shareResponses(operation.responses, shared);
  Object.assign(shared.schemas, shareSchemas(components.schemas, shared.schemas));
  for (const [name, response] of Object.entries(components.responses ?? {}))
    shared.responses[name] = shareHeaders(response as Json, shared);
  return {
    ...rest,
    paths: sharedPaths,
    components: { ...shared, schemas: sorted(shared.schemas), responses: sorted(shared.responses) },
  };
}

function shareSchemas(node: unknown, schemas: Json): unknown {
  if (Array.isArray(node)) return node.map((item) => shareSchemas(item, schemas));
  if (typeof node !== 'object' || node === null) return node;
  const { title } = node as Json;
  const isNamed = typeof title === 'string';
  const members = Object.entries(node).filter(([key]) => !isNamed || key !== 'title');
  const copy = Object.fromEntries(members.map(([key, value]) => [key, shareSchemas(value, schemas)]));
  if (!isNamed) return copy;
  schemas[title] ??= copy;
  if (JSON.stringify(schemas[title]) !== JSON.stringify(copy)) throw new Error(`two different schemas have the name ${title}`);
  return reference('schemas', title);
}

function shareResponses(responses: Json, shared: Components): Json {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const written = shareHeaders(response as Json, shared);
      return [status, Number(status) < 400 ? written : reference('responses', nameOf(status, written, shared.responses))];
    }),
  );
}

function shareHeaders({ headers, ...response }: Json, shared: Components): Json {
  const names = Object.entries((headers ?? {}) as Json).map(([name, header]) => {
    shared.headers[name] = header;
    return [name, reference('headers', name)];
  });
  return { ...response, headers: Object.fromEntries(names) };
}

/** Codes are what a refusal is known by; a number tells apart those that say different things of the same codes. */
function nameOf(status: string, response: Json, known: Json): string {
  const codes = [...String(response['description']).matchAll(/^- `(\w+)`/gm)].map(([, code]) => code);
  const rest = codes.length > 2 ? `_and_${codes.length - 2}_more` : '';
  const base = `Refused${status}_${codes.slice(0, 2).join('_')}${rest}`;
  const text = JSON.stringify(response);
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}_${n}`;
    known[name] ??= response;
    if (JSON.stringify(known[name]) === text) return name;
  }
}

function reference(kind: keyof Components, name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}

function sorted(parts: Json): Json {
  return Object.fromEntries(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The document with every reference replaced by what it refers to, for readers that follow none. */
export function withoutReferences<T>(document: T): T {
  const resolve = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(resolve);
    if (typeof node !== 'object' || node === null) return node;
    const target = (node as Json)['$ref'];
    if (typeof target === 'string') return resolve(partAt(document as Json, target));
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value)]));
  };
  return resolve(document) as T;
}

function partAt(document: Json, reference: string): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce<unknown>((node, key) => (node as Json)[key], document);
}
