/** One declared route, checked and compiled at boot, and the calls of its handler. */
import type { TSchema } from 'typebox';
import type { SchemaNode } from '../../schema/accepted.ts';
import { SchemaCheck } from '../../schema/schema-check.ts';
import { decodedTextFault, textFault } from '../../text/given-text.ts';
import type { HeldBytes } from '../body/body-collector.ts';
import { BodyReader, isJsonType, requireJsonType } from '../body/body-reader.ts';
import { BodyStream } from '../body/body-stream.ts';
import { JsonForm } from '../body/json-form.ts';
import { LARGE_BODY_BYTES, type LargeBody } from '../body/large-body.ts';
import { MultipartBody } from '../body/multipart.ts';
import { HttpError, invalidRequest } from '../errors.ts';
import type { Exchange } from '../exchange.ts';
import type { ListenerName } from '../listen/listener-name.ts';
import { POLICIES } from '../policy.ts';
import type { Principal } from '../principal.ts';
import type { Reply, RequestContext, Route } from '../route.ts';
import { decodeEscapes, parseQuery } from './query.ts';

/** A body as the exchange took it: collected, open, or none. */
export type Received = HeldBytes | BodyStream | undefined;

/** A request for the route, from an admitted caller. */
export interface EndpointCall {
  /** Values of the path parameters in order, percent-encoded as they were sent. */
  readonly parameters: readonly string[];
  readonly received: Received;
  readonly caller: Principal;
  readonly requestId: string;
  readonly listener: ListenerName;
  readonly recheck: () => Promise<void>;
  /** Opens the reading of a large body in a thread. */
  largeBody(): LargeBody;
}

/** Name of the parameter that a wildcard fills. */
export const WILDCARD_NAME = 'path';

export class Endpoint {
  readonly route: Route;
  /** Path segments, without a wildcard at the end; undefined stands for a parameter. */
  readonly segments: readonly (string | undefined)[];
  /** The path ends in `/*`. */
  readonly hasWildcard: boolean;
  readonly #parameterNames: readonly string[];
  readonly #params: SchemaCheck | undefined;
  readonly #query: SchemaCheck | undefined;
  readonly #body: BodyReader | undefined;
  readonly #arrayNames: ReadonlySet<string>;

  /** Throws with the route's name when the declaration is not whole. */
  constructor(route: Route) {
    requireWhole(route);
    this.route = route;
    this.hasWildcard = route.path.endsWith('/*');
    const segments = (this.hasWildcard ? route.path.slice(0, -2) : route.path).split('/').slice(1);
    this.segments = segments.map((segment) => (segment.startsWith('{') ? undefined : segment));
    const names = segments.filter((segment) => segment.startsWith('{')).map((segment) => segment.slice(1, -1));
    this.#parameterNames = this.hasWildcard ? [...names, WILDCARD_NAME] : names;
    this.#params = compile(route.params);
    this.#query = compile(route.query);
    this.#body =
      isStreamed(route) || route.body === undefined ? undefined : new BodyReader(route.body, route.bodyTexts, route.reading);
    this.#arrayNames = new Set(route.query === undefined ? [] : arrayProperties(route.query));
  }

  get isStatic(): boolean {
    return this.#parameterNames.length === 0;
  }

  /** The handler reads the body while it arrives. */
  get isBodyStreamed(): boolean {
    return isStreamed(this.route);
  }

  /** Reads path, query and body, and has the route's handler answer. Throws HttpErrors for what the declaration refuses. */
  handle(exchange: Exchange, call: EndpointCall): Reply | Promise<Reply> {
    const { received, parameters, largeBody } = call;
    const params = this.readParams(parameters);
    const query = this.readQuery(exchange.query);
    const contentType = exchange.header('content-type');
    const read =
      received instanceof BodyStream ? this.#openBody(received, contentType) : this.#readBody(received, contentType, largeBody);
    const answer = (body: unknown) => this.route.handle(new ExchangeContext(exchange, call, params, query, body));
    return read instanceof Promise ? read.then(answer) : answer(read);
  }

  /** Throws HttpError 400 for an escape that is no UTF-8, and for values that the schema refuses. */
  readParams(encoded: readonly string[]): unknown {
    const raw: Record<string, string> = {};
    this.#parameterNames.forEach((name, i) => {
      raw[name] = decode(encoded[i] ?? '');
    });
    return accept(this.#params, raw, 'the path');
  }

  readQuery(query: string): unknown {
    if (query === '' && this.#query === undefined) return {};
    return accept(this.#query, parseQuery(query, this.#arrayNames), 'the query');
  }

  /** Opens the body for routes that read it as a stream. Throws HttpError 415. */
  #openBody(body: BodyStream, contentType: string | undefined): BodyStream | MultipartBody | JsonForm {
    const { bodyKind, partLimits } = this.route;
    if (bodyKind === 'bytes') return body;
    return bodyKind === 'form' && isJsonType(contentType)
      ? new JsonForm(body, partLimits?.maxFields)
      : new MultipartBody(body, contentType, partLimits);
  }

  /** JSON where the route declares a schema, else the bytes. A promise where a large body is read in a thread. */
  #readBody(body: HeldBytes | undefined, contentType: string | undefined, large: () => LargeBody): unknown {
    const isEmpty = body === undefined || body.sizeBytes === 0;
    if (this.#body === undefined) return body?.join();
    if (isEmpty && this.route.bodyOptional === true) return undefined;
    requireJsonType(contentType);
    const { reading } = this.route;
    if (body !== undefined && body.sizeBytes > LARGE_BODY_BYTES && reading !== undefined)
      return large().read(reading.thread, body);
    return this.#body.read(body?.join() ?? new Uint8Array());
  }
}

function decode(encoded: string): string {
  const text = decodeEscapes(encoded);
  const fault = text === undefined ? 'holds a percent sign that does not start a valid UTF-8 escape' : pathFault(encoded, text);
  if (text === undefined || fault !== undefined) throw new HttpError(400, 'invalid_path', `The path ${fault}.`);
  return text;
}

/**
 * Says what is wrong with a path. What the library could not decode is seen before the escapes are: behind them, U+FFFD is a character that was sent.
 */
function pathFault(encoded: string, text: string): string | undefined {
  return decodedTextFault(encoded) ?? textFault(text);
}

function accept(check: SchemaCheck | undefined, raw: Record<string, unknown>, whole: string): unknown {
  if (check === undefined) return raw;
  const value = check.convert(raw);
  const fault = check.findFault(value, whole);
  if (fault !== undefined) throw invalidRequest(fault);
  return value;
}

function isStreamed({ bodyKind = 'json' }: Route): boolean {
  return bodyKind !== 'json';
}

function compile(schema: TSchema | undefined): SchemaCheck | undefined {
  return schema === undefined ? undefined : new SchemaCheck(schema);
}

function arrayProperties(schema: TSchema): string[] {
  const properties = ((schema as unknown as SchemaNode)['properties'] ?? {}) as Record<string, SchemaNode>;
  return Object.keys(properties).filter((name) => properties[name]?.['type'] === 'array');
}

function requireWhole(route: Route): void {
  const missing: string[] = [];
  if (!Object.hasOwn(POLICIES, route.auth ?? '')) missing.push(`auth (one of ${Object.keys(POLICIES).join(', ')})`);
  if (!Number.isSafeInteger(route.maxBody) || route.maxBody < 0) missing.push('maxBody (bytes, 0 for none)');
  if (route.responses === undefined || Object.keys(route.responses).length === 0) missing.push('responses');
  if (!route.path.startsWith('/')) missing.push('a path that starts with /');
  if (route.path.slice(0, -1).includes('*')) missing.push('a path whose wildcard is its last segment');
  if (route.body !== undefined && route.maxBody === 0) missing.push('maxBody above 0 for its body');
  if (isStreamed(route) && !(route.maxBody > 0)) missing.push('maxBody above 0 for its stream');
  const isPlain = route.method === 'GET' && route.auth === 'open' && route.maxBody === 0 && !/[{*]/.test(route.path);
  if (route.probe === true && !isPlain) missing.push('what a probe needs (GET, auth open, maxBody 0, no parameters)');
  if (missing.length > 0) throw new Error(`route ${route.method} ${route.path} lacks ${missing.join(', ')}`);
}

/** The request as a handler gets it. It is a class, so that the abort signal is only made for handlers that ask for it. */
class ExchangeContext implements RequestContext {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly caller: Principal;
  readonly requestId: string;
  readonly listener: ListenerName;
  readonly recheck: () => Promise<void>;
  readonly #exchange: Exchange;
  #controller: AbortController | undefined;

  constructor(exchange: Exchange, call: EndpointCall, params: unknown, query: unknown, body: unknown) {
    this.#exchange = exchange;
    this.params = params;
    this.query = query;
    this.body = body;
    this.caller = call.caller;
    this.requestId = call.requestId;
    this.listener = call.listener;
    this.recheck = call.recheck;
  }

  get path(): string {
    return this.#exchange.path;
  }

  get headers(): ReadonlyMap<string, string> {
    return this.#exchange.headers;
  }

  get remoteAddress(): string {
    return this.#exchange.remoteAddress;
  }

  addHeader(name: string, value: string): void {
    this.#exchange.answer.commonHeaders.push(name, value);
  }

  get isEncrypted(): boolean {
    return this.#exchange.isTls || this.#exchange.header('x-forwarded-proto') === 'https';
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      this.#exchange.whenAborted(() => controller.abort());
    }
    return this.#controller.signal;
  }
}
