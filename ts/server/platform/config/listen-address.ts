/** HOST:PORT as people write it. */
import { ConfigError } from './config-error.ts';

/** `[::1]:8880`, `127.0.0.1:8880`, `8880` (then on 127.0.0.1). Throws ConfigError for a port above 65535. */
export function parseListenAddress(text: string): { host: string; port: number } {
  const at = text.lastIndexOf(':');
  const host = at < 0 ? '127.0.0.1' : text.slice(0, at).replace(/^\[|\]$/g, '');
  const port = Number(text.slice(at + 1));
  if (!Number.isInteger(port) || port > 65_535) throw new ConfigError(`${text} does not name a port from 0 to 65535`);
  return { host, port };
}

export function formatListenAddress({ host, port }: { host: string; port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
