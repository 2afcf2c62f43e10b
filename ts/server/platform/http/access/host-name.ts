/** The name in a Host header, in the form in which two names can be compared. */
import { isIPv6 } from 'node:net';

/** Without port and trailing dot, in lowercase, addresses in their canonical form. Undefined: this names no host. */
export function hostName(host: string): string | undefined {
  try {
    const { hostname } = new URL(`http://${isIPv6(host) ? `[${host}]` : host}`);
    return hostname.replace(/\.$/, '').replace(/^\[|\]$/g, '');
  } catch {
    return undefined;
  }
}

/** `localhost` and the names below it, which resolvers must answer with loopback (RFC 6761 section 6.3), 127.0.0.0/8 and ::1. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(name) || name === '::1';
}
