/** Answers a request whose path or method nothing serves: the 404, 405 and 503 rules of the interface's error part. */
import { HttpError } from '../errors.ts';

/** A module of the product, as the node's map of modules knows it. */
export type ModuleState = { state: 'loaded'; module: string } | { state: 'unavailable'; reason: string };

/** Undefined: the name is no module of the product. */
export type FindModule = (name: string) => ModuleState | undefined;

/** Served by the node itself, never dispatched to a module. */
const LOCAL_ONLY = new Set(['auth', 'identity', 'cluster']);

export interface MissingRoute {
  method: string;
  path: string;
  /** Methods that the path does serve. */
  allowed: readonly string[];
  /** What serves in its place. */
  instead?: string | undefined;
}

export function missingRoute({ method, path, allowed, instead }: MissingRoute, findModule: FindModule): HttpError {
  const segment = moduleName(path);
  const state = segment === undefined || LOCAL_ONLY.has(segment) ? undefined : findModule(segment);
  const name = state?.state === 'loaded' ? state.module : segment;
  // A path that some route claims is there, whatever runs the module that its name suggests.
  if (allowed.length > 0) return methodNotAllowed(method, path, allowed, state === undefined ? {} : { module: name, method });
  if (state?.state === 'unavailable') return unavailable(name ?? '', state.reason);
  const where = state === undefined ? {} : { module: name, method };
  const code = state === undefined ? 'not_found' : 'route_not_found';
  const hint = instead === undefined ? '' : ` ${instead}`;
  return new HttpError(404, code, `No handler is registered for ${method} ${path.slice(0, 200)}.${hint}`, { extra: where });
}

function moduleName(path: string): string | undefined {
  return /^\/api\/v1\/([a-z0-9-]+)(?:\/|$)/.exec(path)?.[1];
}

function unavailable(module: string, reason: string): HttpError {
  const detail = `The module ${module} is not available: ${reason}. Retry once a node reports it.`;
  return new HttpError(503, 'module_unavailable', detail, { extra: { module, reason }, headers: { 'retry-after': '30' } });
}

function methodNotAllowed(method: string, path: string, allowed: readonly string[], where: Record<string, unknown>): HttpError {
  const allow = allowed.join(', ');
  const detail = `${path.slice(0, 200)} does not serve ${method}; it serves ${allow}.`;
  return new HttpError(405, 'method_not_allowed', detail, { headers: { allow }, extra: { status: 405, ...where } });
}
