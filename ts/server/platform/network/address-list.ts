/** Networks as an operator lists them: single addresses and CIDR blocks of both families. */
import { addressBytes } from './address-bytes.ts';
import { canonicalAddress } from './canonical-address.ts';

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
