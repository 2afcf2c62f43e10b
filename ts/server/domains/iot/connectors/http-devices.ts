/** Devices that answer HTTP with JSON, and the entities of a Home Assistant. */
import type { HttpResponse } from '../../../platform/network/http-response.ts';
import { type Connection, isReadable, type ReadSpec, type WriteSpec } from '../profile.ts';
import { filled, timeFrom, valueAt } from '../values.ts';
import { type Connector, type ConnectorDeps, DeviceFailure, reasonOf } from './connector.ts';

const DEFAULTS = { poll_seconds: 5, timeout_seconds: 3 };
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Failures before the first byte of a request. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'unsafe_address',
]);
/** States that Home Assistant has for entities without a value. */
const NO_STATE = new Set(['unknown', 'unavailable']);

interface JsonHost {
  get(path: string, signal: AbortSignal): Promise<unknown>;
  send(method: string, path: string, body: unknown, signal: AbortSignal): Promise<void>;
}

export function httpDevice(deps: ConnectorDeps): Connector {
  const { connection } = deps.device;
  const {
    url,
    key_header: header = 'Authorization',
    key_prefix: prefix = header === 'Authorization' ? 'Bearer ' : '',
  } = connection as Connection<'http'>;
  const host = jsonHost(deps, url, deps.key === undefined ? {} : { [header.toLowerCase()]: `${prefix}${deps.key}` });
  return {
    ...polled(deps),
    poll: async (variables, signal) => {
      const byPath = Map.groupBy(variables.filter(isReadable), ({ read }) => (read as ReadSpec<'http'>).path);
      for (const [path, ofPath] of byPath) {
        const document = await host.get(path, signal);
        for (const { name, read } of ofPath) {
          const { pointer, time_pointer: timePointer } = read as ReadSpec<'http'>;
          const at = timePointer === undefined ? undefined : timeFrom(valueAt(document, timePointer));
          deps.onReading(name, { raw: valueAt(document, pointer), at });
        }
      }
    },
    write: async ({ write = {} }, value, signal) => {
      const { path, method = 'PUT', body } = write as WriteSpec<'http'>;
      await host.send(method, path, filled(body, value), signal);
    },
  };
}

export function homeAssistant(deps: ConnectorDeps): Connector {
  const { url } = deps.device.connection as Connection<'homeassistant'>;
  const host = jsonHost(deps, url, deps.key === undefined ? {} : { authorization: `Bearer ${deps.key}` });
  return {
    ...polled(deps),
    poll: async (variables, signal) => {
      const byEntity = Map.groupBy(variables.filter(isReadable), ({ read }) => (read as ReadSpec<'homeassistant'>).entity);
      for (const [entity, ofEntity] of byEntity) {
        const document = await host.get(`/api/states/${entity}`, signal);
        for (const { name, read } of ofEntity)
          deps.onReading(name, stateOf(document, (read as ReadSpec<'homeassistant'>).attribute));
      }
    },
    write: async ({ write = {} }, value, signal) => {
      const spec = write as WriteSpec<'homeassistant'>;
      const service =
        (value === true ? spec.service_true : value === false ? spec.service_false : undefined) ?? spec.service ?? '';
      const field = spec.service === service ? { [spec.field ?? 'value']: value } : {};
      await host.send('POST', `/api/services/${service.replace('.', '/')}`, { entity_id: spec.entity, ...field }, signal);
    },
  };
}

/** The time is that of the last report: a state that nobody reports any more grows old. */
function stateOf(document: unknown, attribute: string | undefined) {
  const state = valueAt(document, '/state');
  const reported = timeFrom(valueAt(document, '/last_reported')) ?? timeFrom(valueAt(document, '/last_updated'));
  const isNone = typeof state === 'string' && NO_STATE.has(state);
  const raw = attribute === undefined ? state : valueAt(document, `/attributes/${attribute}`);
  return { raw, at: reported, badReason: isNone ? `Home Assistant says that it is ${state}` : undefined };
}

function polled({ device }: ConnectorDeps): Pick<Connector, 'pollMs' | 'open' | 'close'> {
  const { poll_seconds: seconds } = { ...DEFAULTS, ...(device.connection as Connection<'http'>) };
  return { pollMs: seconds * 1000, open: () => {}, close: async () => {} };
}

function jsonHost({ device, http }: ConnectorDeps, base: string, headers: Readonly<Record<string, string>>): JsonHost {
  const { timeout_seconds: seconds } = { ...DEFAULTS, ...(device.connection as Connection<'http'>) };
  const address = (path: string): URL => new URL(`${base.replace(/\/$/, '')}${path}`);
  const within = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]);
  return {
    get: async (path, signal) => {
      const fields = { accept: 'application/json', ...headers };
      const answer = await http.request(address(path), { headers: fields, signal: within(signal) }).catch(failed);
      if (!answer.isOk) throw refusalOf(answer);
      const text = (await answer.bytes(MAX_ANSWER_BYTES).catch(failed)).toString();
      try {
        return JSON.parse(text) as unknown;
      } catch (cause) {
        throw new DeviceFailure('refused', 'its answer is no JSON', cause);
      }
    },
    // No request is sent again here or by the client: a redirect is an answer like any other.
    send: async (method, path, body, signal) => {
      const fields = { 'content-type': 'application/json', ...headers };
      const sent = { method, headers: fields, body: JSON.stringify(body), signal: within(signal) };
      const answer = await http.request(address(path), sent).catch(failed);
      if (!answer.isOk) throw refusalOf(answer);
      answer.discard();
    },
  };
}

function failed(error: unknown): never {
  const { code = '', failure } = error as NodeJS.ErrnoException & { failure?: string };
  const isUnsent = UNSENT.has(code) || failure === 'connect_timeout';
  throw new DeviceFailure(isUnsent ? 'unsent' : 'unknown', reasonOf(error), error);
}

/** A server that fails may have done it before it did. */
function refusalOf(answer: HttpResponse): DeviceFailure {
  answer.discard();
  return new DeviceFailure(answer.status >= 500 ? 'unknown' : 'refused', `it answered with the status ${answer.status}`);
}
