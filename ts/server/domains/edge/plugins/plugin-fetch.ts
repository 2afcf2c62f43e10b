/** Requests of plugins: to the hosts that their manifest names, and to no address that other tools may not reach either. */
import type { HttpClient } from '../../../platform/network/http-client.ts';
import { edgeError } from '../errors.ts';
import { reaching } from '../web/web-client.ts';

interface PluginFetchOptions {
  readonly client: HttpClient;
  readonly hosts: readonly string[];
  readonly userAgent: string;
}

type Members = Readonly<Record<string, unknown>>;

const MAX_ANSWER_BYTES = 5 * 1024 * 1024;
const MAX_BODY_CHARACTERS = 1024 * 1024;
const TIMEOUT_MS = 30_000;
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);
/** How a message is framed and where it goes is the client's own. */
const KEPT_BACK = /^(?:host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|proxy-.*)$/i;

/** Answers `{status, headers, base64}`. A redirect is an answer: the plugin follows it where it may. */
export async function fetchForPlugin({ client, hosts, userAgent }: PluginFetchOptions, request: Members): Promise<object> {
  const { url: address, method, headers, body } = request;
  const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw edgeError('unsafe_address', 'That is no address on the web.');
  if (!hosts.includes(url.host)) throw edgeError('unsafe_address', `${url.host} is none of the hosts that plugin.json names.`);
  if (typeof method !== 'string' || !METHODS.has(method)) throw edgeError('invalid_request', 'That is no method.');
  if (body !== undefined && (typeof body !== 'string' || body.length > MAX_BODY_CHARACTERS))
    throw edgeError('invalid_request', `A body is a text of up to ${MAX_BODY_CHARACTERS} characters.`);
  return await reaching(url.hostname, async () => {
    const sent = { 'user-agent': userAgent, ...headersOf(headers) };
    const answer = await client.request(url, { method, headers: sent, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const bytes = await answer.bytes(MAX_ANSWER_BYTES);
    const type = answer.header('content-type');
    const location = answer.header('location');
    return {
      status: answer.status,
      headers: { ...(type !== undefined && { 'content-type': type }), ...(location !== undefined && { location }) },
      base64: bytes.toString('base64'),
    };
  });
}

function headersOf(given: unknown): Record<string, string> {
  if (typeof given !== 'object' || given === null) return {};
  const fields = Object.entries(given).filter(
    ([name, value]) => /^[A-Za-z0-9-]{1,100}$/.test(name) && !KEPT_BACK.test(name) && /^[\x20-\x7e]{0,4000}$/.test(String(value)),
  );
  return Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), String(value)]));
}
