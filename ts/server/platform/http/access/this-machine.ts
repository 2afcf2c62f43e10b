/** Whether a request comes from a program on the machine itself. */
import { BlockList, isIPv6 } from 'node:net';
import type { CredentialSource } from '../authenticator.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Headers by which a proxy tells that it forwards for somebody else. They can only tighten: a client that sends one is not local. */
const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];

export function isFromThisMachine({ listener, remoteAddress, headers }: CredentialSource): boolean {
  if (listener !== 'internal' || !isLoopbackAddress(remoteAddress)) return false;
  return !FORWARDING_HEADERS.some((name) => headers.has(name));
}

/** 127.0.0.0/8, ::1, and the former mapped into IPv6. */
function isLoopbackAddress(address: string): boolean {
  return loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
