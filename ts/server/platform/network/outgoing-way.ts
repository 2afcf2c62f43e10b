/** How a request gets to its server: over a connection to the server itself, through a tunnel of a proxy, or by asking the proxy for it. */
import type { LookupFunction, Socket } from 'node:net';
import { buildConnector, Client } from 'undici';
import type { AddressPolicy } from './address-policy.ts';
import type { ClientTls } from './http-client.ts';
import { HttpClientError } from './http-client-error.ts';

export interface Way {
  /** Of the pool whose connections lead there. */
  readonly key: string;
  readonly origin: string;
  readonly path: string;
  /** What the request carries for the proxy. */
  readonly fields: Record<string, string>;
  connector(): buildConnector.connector;
}

interface WayOptions {
  readonly connectMs: number;
  readonly policy: AddressPolicy | undefined;
  readonly tls?: ClientTls | undefined;
}

export function wayTo(url: URL, proxy: URL | undefined, { connectMs, policy, tls }: WayOptions): Way {
  const path = `${url.pathname}${url.search}`;
  const direct = { key: url.origin, origin: url.origin, path, fields: {} };
  if (proxy === undefined) return { ...direct, connector: () => connectorTo(connectMs, policy?.lookupFor(url), tls) };
  if (url.protocol === 'https:')
    return { ...direct, key: `${url.origin} by ${proxy.origin}`, connector: () => tunnelThrough(proxy, connectMs) };
  // RFC 9112 section 3.2.2: a proxy that is asked for plain http gets the whole address.
  return {
    key: `by ${proxy.origin}`,
    origin: proxy.origin,
    path: `${url.origin}${path}`,
    fields: { host: url.host, ...basicAuthorization('proxy-authorization', proxy) },
    connector: () => connectorTo(connectMs),
  };
}

function connectorTo(connectMs: number, lookup?: LookupFunction, tls?: ClientTls): buildConnector.connector {
  // A session that is resumed would show no certificate to the server.
  return buildConnector({ timeout: connectMs, ...(lookup && { lookup }), ...(tls && { ...tls, maxCachedSessions: 0 }) });
}

/** A TLS connection to the server through the proxy's CONNECT (RFC 9110 section 9.3.6): the proxy sees the host and no more. */
function tunnelThrough(proxy: URL, connectMs: number): buildConnector.connector {
  const secure = connectorTo(connectMs);
  return (options, callback) => {
    const target = `${options.hostname}:${options.port || 443}`;
    openTunnel(proxy, target, connectMs).then(
      (httpSocket) => secure({ ...options, httpSocket }, callback),
      (error: Error) => callback(error, null),
    );
  };
}

async function openTunnel(proxy: URL, target: string, connectMs: number): Promise<Socket> {
  const client = new Client(proxy.origin, { connect: connectorTo(connectMs), headersTimeout: connectMs });
  try {
    const { socket, statusCode } = await client.connect({
      path: target,
      headers: { host: target, ...basicAuthorization('proxy-authorization', proxy) },
    });
    if (statusCode >= 200 && statusCode < 300) return socket as Socket;
    socket.on('error', () => undefined).destroy();
    throw new HttpClientError('proxy_failed', `the proxy ${proxy.host} answers ${statusCode}`);
  } catch (error) {
    if (error instanceof HttpClientError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new HttpClientError('proxy_failed', `the proxy ${proxy.host} cannot be used: ${code ?? message}`, error);
  }
}

/** Of an address with a name and a password in it. */
export function basicAuthorization(field: string, { username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { [field]: `Basic ${Buffer.from(pair).toString('base64')}` };
}
