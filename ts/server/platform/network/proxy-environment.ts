/** The proxy that the environment names for an address: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in capitals or not, as curl and Go read them. */
import { isIP } from 'node:net';
import { AddressList } from './address-list.ts';
import { HttpClientError } from './http-client-error.ts';
import { bareHost, isLoopbackName } from './public-address.ts';

/** This machine itself is called without a proxy. Throws HttpClientError `proxy_failed` for what names no proxy. */
export function findProxy(url: URL, environment: NodeJS.ProcessEnv): URL | undefined {
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const text = readVariable(environment, name);
  if (text === '' || isLoopbackName(bareHost(url.hostname)) || isExcepted(url, readVariable(environment, 'NO_PROXY')))
    return undefined;
  const address = text.includes('://') ? text : `http://${text}`;
  const proxy = URL.canParse(address) ? new URL(address) : undefined;
  if (proxy === undefined || !['http:', 'https:'].includes(proxy.protocol))
    throw new HttpClientError('proxy_failed', `${name} names no http or https proxy`);
  return proxy;
}

function readVariable(environment: NodeJS.ProcessEnv, name: string): string {
  return (environment[name.toLowerCase()] ?? environment[name] ?? '').trim();
}

/** Entries are `*`, names (with all names below them), addresses or CIDR blocks, the first three with a port or without. */
function isExcepted(url: URL, noProxy: string): boolean {
  const host = bareHost(url.hostname);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return noProxy.split(/[\s,]+/).some((entry) => {
    if (entry === '' || entry === '*') return entry === '*';
    if (entry.includes('/')) return isIP(host) !== 0 && isInBlock(entry, host);
    const [, name = entry, ofPort = port] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
    const domain = bareHost(name.toLowerCase()).replace(/^\*?\./, '');
    return ofPort === port && (host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`)));
  });
}

function isInBlock(entry: string, host: string): boolean {
  try {
    return new AddressList([entry]).has(host);
  } catch {
    return false;
  }
}
