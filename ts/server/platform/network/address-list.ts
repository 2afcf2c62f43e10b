/** Networks as an operator lists them: single addresses and CIDR blocks of both families. */
import { isIPv4, isIPv6 } from 'node:net';

interface Block {
  bytes: Uint8Array;
  /** Of the prefix. */
  nBits: number;
}

export class AddressList {
  readonly entries: readonly string[];
  readonly #blocks: readonly Block[];

  /** Entries are addresses or blocks: `10.0.0.5`, `10.0.0.0/8`, `fd00::/8`. Throws a RangeError that quotes an entry which is neither. */
  constructor(entries: readonly string[]) {
    this.entries = entries;
    this.#blocks = entries.map(blockOf);
  }

  /** False for what is no address. Node's own BlockList takes many times as long, and this is asked for every request of a proxy. */
  has(address: string): boolean {
    const canonical = canonicalAddress(address);
    if (canonical === undefined) return false;
    const bytes = addressBytes(canonical);
    return this.#blocks.some((block) => isInside(block, bytes));
  }
}

function blockOf(entry: string): Block {
  const [net = '', bits, ...rest] = entry.split('/');
  const canonical = canonicalAddress(net);
  // IPv4 that is written as IPv6 has another prefix length than it looks like.
  if (canonical === undefined || rest.length > 0 || net.includes(':') !== canonical.includes(':')) throw noEntry(entry);
  const bytes = addressBytes(canonical);
  const most = bytes.length * 8;
  if (bits === undefined) return { bytes, nBits: most };
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > most) throw noEntry(entry);
  return { bytes, nBits: Number(bits) };
}

function isInside({ bytes, nBits }: Block, address: Uint8Array): boolean {
  if (bytes.length !== address.length) return false;
  const nWhole = nBits >> 3;
  for (let i = 0; i < nWhole; i++) if (bytes[i] !== address[i]) return false;
  const nLeft = nBits & 7;
  return nLeft === 0 || ((bytes[nWhole] ?? 0) ^ (address[nWhole] ?? 0)) >> (8 - nLeft) === 0;
}

function noEntry(entry: string): RangeError {
  return new RangeError(
    `${JSON.stringify(entry.slice(0, 100))} is no address and no CIDR block; write for example 10.0.0.5, 10.0.0.0/8 or fd00::/8, and IPv4 as IPv4`,
  );
}

/** The bytes of an IP address: 4 of IPv4, 16 of IPv6. */
const DOT = 0x2e;
const ZERO = 0x30;

/** The address is a canonical one, see `canonicalAddress`. */
function addressBytes(canonical: string): Uint8Array {
  return canonical.includes(':') ? bytesOfIPv6(canonical) : bytesOfIPv4(canonical);
}

/** Digit by digit: this is asked for each request that a proxy passes on. */
function bytesOfIPv4(text: string): Uint8Array {
  const bytes = new Uint8Array(4);
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) at += 1;
    else bytes[at] = (bytes[at] ?? 0) * 10 + (code - ZERO);
  }
  return bytes;
}

function bytesOfIPv6(text: string): Uint8Array {
  const bytes = new Uint8Array(16);
  const [head = '', tail = ''] = text.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const last = groups(tail);
  for (const [i, group] of groups(head).entries()) write(bytes, i, group);
  for (const [i, group] of last.entries()) write(bytes, 8 - last.length + i, group);
  return bytes;
}

function write(bytes: Uint8Array, group: number, digits: string): void {
  const value = Number.parseInt(digits, 16);
  bytes[2 * group] = value >> 8;
  bytes[2 * group + 1] = value & 0xff;
}

/** One text for each IP address, so that limits, logs and lists compare addresses and not spellings. */
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * IPv4 in decimal, IPv6 compressed and in lowercase (RFC 5952), an IPv4 address mapped into IPv6 as the IPv4 address that it is. Undefined for
 * what is no address; an address with a zone is one of this machine's links, and no address of a client.
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const compressed = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const mapped = MAPPED.exec(compressed);
  return mapped === null ? compressed : fromGroups(mapped[1] ?? '', mapped[2] ?? '');
}

function fromGroups(high: string, low: string): string {
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 0xff, second >> 8, second & 0xff].join('.');
}
