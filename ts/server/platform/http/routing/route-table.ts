/** Finds the endpoint of a method and a path. */

import { HttpError } from '../errors.ts';
import type { Method, Route } from '../route.ts';
import { Endpoint } from './endpoint.ts';

export interface RouteMatch {
  endpoint: Endpoint;
  /** Decoded path parameters, in order. */
  segments: readonly string[];
}

type ByMethod = Map<string, Endpoint>;

export class RouteTable {
  readonly endpoints: readonly Endpoint[];
  readonly #static = new Map<string, ByMethod>();
  readonly #patterns: { segments: readonly (string | undefined)[]; byMethod: ByMethod }[] = [];

  /** Throws when a route is not whole or the same method and path come twice. */
  constructor(routes: readonly Route[]) {
    this.endpoints = routes.map((route) => new Endpoint(route));
    for (const endpoint of this.endpoints) this.#add(endpoint);
  }

  /** HEAD finds the GET route. */
  find(method: string, path: string): RouteMatch | undefined {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const fixed = this.#static.get(path)?.get(wanted);
    if (fixed !== undefined) return { endpoint: fixed, segments: [] };
    const segments = path.split('/').slice(1);
    for (const pattern of this.#patterns) {
      const endpoint = matches(pattern.segments, segments) ? pattern.byMethod.get(wanted) : undefined;
      if (endpoint !== undefined) return { endpoint, segments: parameters(pattern.segments, segments) };
    }
    return undefined;
  }

  /** Methods that the path serves, HEAD and OPTIONS included; empty when the path is not served at all. */
  methodsOf(path: string): string[] {
    const segments = path.split('/').slice(1);
    const found = new Set<string>(this.#static.get(path)?.keys());
    for (const pattern of this.#patterns) {
      if (matches(pattern.segments, segments)) for (const method of pattern.byMethod.keys()) found.add(method);
    }
    if (found.size === 0) return [];
    if (found.has('GET')) found.add('HEAD');
    return [...found.add('OPTIONS')].sort();
  }

  #add(endpoint: Endpoint): void {
    const byMethod = endpoint.isStatic ? this.#staticPath(endpoint.route.path) : this.#pattern(endpoint.segments);
    const method: Method = endpoint.route.method;
    if (byMethod.has(method)) throw new Error(`route ${method} ${endpoint.route.path} is declared twice`);
    byMethod.set(method, endpoint);
  }

  #staticPath(path: string): ByMethod {
    const known = this.#static.get(path) ?? new Map<string, Endpoint>();
    this.#static.set(path, known);
    return known;
  }

  #pattern(segments: readonly (string | undefined)[]): ByMethod {
    const shape = JSON.stringify(segments);
    const known = this.#patterns.find((pattern) => JSON.stringify(pattern.segments) === shape);
    if (known !== undefined) return known.byMethod;
    const added = { segments, byMethod: new Map<string, Endpoint>() };
    this.#patterns.push(added);
    return added.byMethod;
  }
}

function matches(pattern: readonly (string | undefined)[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((wanted, i) => (wanted === undefined ? segments[i] !== '' : wanted === segments[i]));
}

function parameters(pattern: readonly (string | undefined)[], segments: readonly string[]): string[] {
  return segments.filter((_, i) => pattern[i] === undefined).map(decode);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new HttpError(400, 'invalid_path', 'The path holds a percent sign that does not start a valid UTF-8 escape.', {
      cause,
    });
  }
}
