/** Where texts stand in the request of a route: each parameter of its path and query, each member of its body. */
import type { Ids } from '../matrix/belongings.ts';
import type { Request } from '../matrix/client.ts';
import type { Operation } from '../matrix/documented.ts';
import { contentOf } from '../matrix/requests.ts';
import type { Row } from '../matrix/rows.ts';

export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maximum?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly schema: Schema;
}

interface Place {
  readonly in: 'path' | 'query' | 'body';
  readonly name: string;
  readonly schema: Schema;
}

type Described = Operation & {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly description?: string; readonly content?: Readonly<Record<string, { schema?: Schema }>> };
};

export function placesOf({ operation }: Row): Place[] {
  const { parameters = [] } = operation as Described;
  const { properties = {} } = bodySchema(operation) ?? {};
  return [
    ...parameters.map((each) => ({ in: each.in, name: each.name, schema: each.schema })),
    ...Object.entries(properties).map(([name, schema]) => ({ in: 'body' as const, name, schema })),
  ];
}

/** Bytes; 0 for a route without a body. */
export function bodyLimit({ operation }: Row): number {
  return Number(/At most (\d+) bytes/.exec((operation as Described).requestBody?.description ?? '')?.[1] ?? 0);
}

function bodySchema(operation: Operation): Schema | undefined {
  return (operation as Described).requestBody?.content?.['application/json']?.schema;
}

/** A request that the route takes. */
export function rightRequest(row: Row, ids: Ids): Request {
  const content = contentOf(row.method, row.template, false, ids);
  if (content === undefined) throw new Error(`${row.name} has no row in requests.ts`);
  const { path, ...rest } = content;
  return { method: row.method, path, ...rest };
}

/** The same with another value in one place: of a path and a query as it is written there, percent signs included. */
export function withValue(row: Row, ids: Ids, place: Place, value: unknown): Request {
  const right = rightRequest(row, ids);
  if (place.in === 'body') return { ...right, body: { ...(right.body as object | undefined), [place.name]: value } };
  const [path = '', query = ''] = right.path.split('?');
  if (place.in === 'path') return { ...right, path: inPath(row.template, path, place.name, String(value)) };
  const others = query.split('&').filter((pair) => pair !== '' && !pair.startsWith(`${place.name}=`));
  return { ...right, path: `${path}?${[...others, `${place.name}=${value}`].join('&')}` };
}

function inPath(template: string, path: string, name: string, value: string): string {
  const at = template.split('/').indexOf(`{${name}}`);
  return path
    .split('/')
    .map((segment, i) => (i === at ? value : segment))
    .join('/');
}
