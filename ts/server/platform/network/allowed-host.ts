/** A host that the server may call although it lies inside the network, as the operator writes it in a setting. */
import { listOf } from '../config/setting.ts';
import { StartError } from '../module/start-error.ts';
import { bareHost } from './public-address.ts';

export interface AllowedHost {
  /** As URL.hostname gives it: lowercase, IPv6 in brackets. */
  readonly hostname: string;
  /** Undefined: every port. */
  readonly port: string | undefined;
  /** Whether plain http will do. */
  readonly allowsPlain: boolean;
}

/** `files.lan`, `files.lan:8443`, `[fd00::5]`; http:// before it allows plain http. Undefined for what is no host. */
export function parseAllowedHost(entry: string): AllowedHost | undefined {
  const text = /^https?:\/\//i.test(entry) ? entry : `https://${entry}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isBare = url?.pathname === '/' && url.search === '' && url.hash === '' && !text.includes('@');
  if (url === undefined || !isBare) return undefined;
  const hasPort = /:\d+\/?$/.test(text);
  return { hostname: url.hostname, port: hasPort ? portOf(url) : undefined, allowsPlain: url.protocol === 'http:' };
}

/** The hosts of a setting, separated by commas. `example` names some as an administrator may write them. Throws StartError. */
export function allowedHostsOf(setting: string, text: string, example: string): AllowedHost[] {
  return listOf(text).map((entry) => {
    const host = parseAllowedHost(entry);
    if (host !== undefined) return host;
    const remedy = `write names or addresses separated by commas, for example ${example}`;
    throw new StartError('invalid_setting', `${setting}: ${JSON.stringify(entry.slice(0, 200))} is no host`, remedy);
  });
}

export function isAllowedBy({ hostname, port, allowsPlain }: AllowedHost, url: URL): boolean {
  if (bareHost(url.hostname) !== bareHost(hostname) || (port !== undefined && portOf(url) !== port)) return false;
  return url.protocol === 'https:' || (allowsPlain && url.protocol === 'http:');
}

/** A URL leaves its scheme's own port out. */
function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}
