/** Networks as conditions of rsyslog, which has no function for them. */
import { isIP } from 'node:net';
import { quoted } from './quoted.ts';

const SENDER = '$fromhost-ip';

/** Undefined: it is no network, or one of IPv6 that a prefix of text cannot tell. */
export function networkCondition(network: string): string | undefined {
  const [, address = network, bits] = /^(.*)\/(\d{1,3})$/.exec(network) ?? [];
  const kind = isIP(address);
  if (kind === 4) return conditionOf4(address, bits === undefined ? 32 : Number(bits));
  if (kind === 6) return conditionOf6(address, bits === undefined ? 128 : Number(bits));
  return undefined;
}

function conditionOf4(address: string, bits: number): string | undefined {
  if (bits > 32) return undefined;
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - bits);
  const first = Math.floor(number / size) * size;
  // What is no address of IPv4 is -1.
  return `(ip42num(${SENDER}) >= ${first} and ip42num(${SENDER}) <= ${first + size - 1})`;
}

/** Addresses are compared as they are written: each has one short form (RFC 5952). */
function conditionOf6(address: string, bits: number): string | undefined {
  const short = new URL(`http://[${address}]`).hostname.slice(1, -1);
  if (bits === 128) return `${SENDER} == ${quoted(short)}`;
  if (bits === 0) return `${SENDER} contains ":"`;
  const groups = short.split('::')[0]?.split(':') ?? [];
  const isTextual =
    bits % 16 === 0 &&
    bits <= 64 &&
    groups.length >= bits / 16 &&
    groups.slice(0, bits / 16).every((each) => each !== '0' && each !== '');
  return isTextual ? `${SENDER} startswith ${quoted(`${groups.slice(0, bits / 16).join(':')}:`)}` : undefined;
}
