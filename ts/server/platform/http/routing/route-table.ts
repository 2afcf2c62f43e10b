/** Finds the endpoint of a method and a path. */
import type { ReplyHeaders } from '../reply/reply.ts';
import type { Method, Route } from '../route.ts';
import { Endpoint } from './endpoint.ts';

export interface RouteMatch {
  endpoint: Endpoint;
  /** Values of the path parameters in order, percent-encoded as they were sent; a wildcard's rest of the path comes last. */
  parameters: readonly string[];
}

type ByMethod = Map<string, Endpoint>;

/** One segment of all declared paths. */
class PathNode {
  readonly literals = new Map<string, PathNode>();
  parameter: PathNode | undefined;
  /** Endpoints of paths that end here. */
  readonly byMethod: ByMethod = new Map();
  /** Endpoints of paths that go on from here with a wildcard. */
  readonly wildcard: ByMethod = new Map();
}

const NONE: readonly string[] = [];

export class RouteTable {
  readonly endpoints: readonly Endpoint[];
  /** Paths without parameters, which most requests have, need no walk. */
  readonly #static = new Map<string, ByMethod>();
  readonly #root = new PathNode();

  /** Throws when a route is not whole or the same method and path come twice. */
  constructor(routes: readonly Route[]) {
    this.endpoints = routes.map((route) => new Endpoint(route));
    for (const endpoint of this.endpoints) this.#add(endpoint);
  }

  /** HEAD finds the GET route. A literal segment wins over a parameter, and both over a wildcard, where they serve the method. */
  find(method: string, path: string): RouteMatch | undefined {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const fixed = this.#static.get(path)?.get(wanted);
    if (fixed !== undefined) return { endpoint: fixed, parameters: NONE };
    let match: RouteMatch | undefined;
    walk(this.#root, path.split('/'), 1, [], (byMethod, parameters) => {
      const endpoint = byMethod.get(wanted);
      if (endpoint !== undefined) match = { endpoint, parameters };
      return endpoint !== undefined;
    });
    return match;
  }

  /** Returns the routes of all methods that the path serves. */
  routesOf(path: string): Route[] {
    const found: Route[] = [];
    walk(this.#root, path.split('/'), 1, [], (byMethod) => {
      for (const { route } of byMethod.values()) found.push(route);
      return false;
    });
    return found;
  }

  /** Methods that the path serves, HEAD and OPTIONS included; empty when the path is not served at all. */
  methodsOf(path: string): string[] {
    const found = new Set<string>(this.routesOf(path).map(({ method }) => method));
    if (found.size === 0) return [];
    if (found.has('GET')) found.add('HEAD');
    return [...found.add('OPTIONS')].sort();
  }

  /** Returns the headers that routes of the path declare for the answer to OPTIONS. */
  optionsHeadersOf(path: string): ReplyHeaders {
    let found: ReplyHeaders = {};
    walk(this.#root, path.split('/'), 1, [], (byMethod) => {
      for (const { route } of byMethod.values()) found = { ...found, ...route.optionsHeaders };
      return false;
    });
    return found;
  }

  #add(endpoint: Endpoint): void {
    const { method, path }: { method: Method; path: string } = endpoint.route;
    let node = this.#root;
    for (const segment of endpoint.segments) node = descend(node, segment);
    const byMethod = endpoint.hasWildcard ? node.wildcard : node.byMethod;
    if (byMethod.has(method)) throw new Error(`route ${method} ${path} is declared twice`);
    byMethod.set(method, endpoint);
    if (endpoint.isStatic) this.#static.set(path, byMethod);
  }
}

function descend(node: PathNode, segment: string | undefined): PathNode {
  const next = (segment === undefined ? node.parameter : node.literals.get(segment)) ?? new PathNode();
  if (segment === undefined) node.parameter = next;
  else node.literals.set(segment, next);
  return next;
}

/** Calls `visit` for each leaf that the segments reach, best first, until it returns true. */
function walk(
  node: PathNode,
  segments: readonly string[],
  at: number,
  parameters: readonly string[],
  visit: (byMethod: ByMethod, parameters: readonly string[]) => boolean,
): boolean {
  const segment = segments[at];
  if (segment === undefined) return node.byMethod.size > 0 && visit(node.byMethod, parameters);
  const literal = node.literals.get(segment);
  if (literal !== undefined && walk(literal, segments, at + 1, parameters, visit)) return true;
  if (segment !== '' && node.parameter !== undefined && walk(node.parameter, segments, at + 1, [...parameters, segment], visit)) {
    return true;
  }
  const rest = node.wildcard.size > 0 ? segments.slice(at).join('/') : '';
  return rest !== '' && visit(node.wildcard, [...parameters, rest]);
}
