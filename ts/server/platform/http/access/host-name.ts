/** The name in a Host header, in the form in which two names can be compared. */
import { isIPv6 } from 'node:net';
import { bareHost } from '../../network/public-address.ts';

/** Without port and trailing dot, in lowercase, addresses in their canonical form. Undefined: this names no host. */
export function hostName(host: string): string | undefined {
  try {
    const { hostname } = new URL(`http://${isIPv6(host) ? `[${host}]` : host}`);
    return bareHost(hostname);
  } catch {
    return undefined;
  }
}
