/** The check of what no schema says of an adapter: its templates stand for its parameters, and its addresses are its own. */
import { SchemaCheck } from '../../../platform/schema/schema-check.ts';
import { isFilter, placeholdersOf } from '../requests/template.ts';
import { Adapter, type Operation, type RequestTemplate } from './adapter.ts';

/** Those that a call has whatever its parameters are. */
const OF_EVERY_CALL = ['limit', 'offset', 'page', 'cursor'];
const schema = new SchemaCheck(Adapter);

/** A sentence; undefined: the value is an adapter. */
export function findAdapterFault(value: unknown): string | undefined {
  const fault = schema.findFault(value, 'the adapter');
  if (fault !== undefined) return fault.sentence;
  const adapter = value as Adapter;
  if (adapter.key !== undefined && adapter.hosts !== undefined)
    return 'one with a key has no hosts, since a key goes to one origin alone';
  for (const [name, operation] of Object.entries(adapter.operations)) {
    const found = findOperationFault(adapter, operation);
    if (found !== undefined) return `operations.${name}: ${found}`;
  }
  return undefined;
}

function findOperationFault({ hosts = [] }: Adapter, operation: Operation): string | undefined {
  const { parameters, is_query: isQuery, first, request, paging, max_rows: maxRows } = operation;
  if (isQuery === true && parameters['query']?.required !== true) return 'one that is_query has a required parameter `query`';
  if (paging !== undefined && (maxRows === undefined || operation.total === undefined)) return 'paging needs max_rows and total';
  if (paging?.by === 'cursor' && paging.next === undefined) return 'paging by cursor needs next';
  const known = [...Object.keys(parameters), ...OF_EVERY_CALL];
  const reserved = Object.keys(parameters).find((name) => OF_EVERY_CALL.includes(name) || name === 'ids');
  if (reserved !== undefined) return `the parameter ${reserved} has a name that every call has`;
  const sure = Object.entries(parameters).flatMap(([name, one]) =>
    one.required === true || one.default !== undefined ? [name] : [],
  );
  for (const one of [first?.request, request].filter((each) => each !== undefined)) {
    const names = one === request && first !== undefined ? ['ids'] : [];
    const fault = findRequestFault(one, [...known, ...names], [...sure, ...names], hosts);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function findRequestFault(
  { path, query }: RequestTemplate,
  known: readonly string[],
  sure: readonly string[],
  hosts: readonly string[],
): string | undefined {
  if (!path.startsWith('/') && !hosts.some((host) => path.startsWith(`${host}/`)))
    return `the path ${path} begins neither with / nor with one of hosts`;
  if (placeholdersOf(path.replace(/^https?:\/\/[^/]*/, '')).length !== placeholdersOf(path).length)
    return `the host of ${path} has a placeholder`;
  const templates = [path, ...Object.values(query).flatMap((one) => (typeof one === 'string' ? [one] : one.join))];
  for (const { name, filter } of templates.flatMap(placeholdersOf)) {
    if (!known.includes(name)) return `{${name}} stands for no parameter`;
    if (filter !== undefined && !isFilter(filter)) return `{${name}|${filter}} names no filter`;
  }
  const unsure = placeholdersOf(path).find(({ name }) => !sure.includes(name));
  return unsure === undefined ? undefined : `{${unsure.name}} in a path needs a parameter that is required or has a default`;
}
