/** Many networks of both families, in which an address is found quickly. */
import { isIP } from 'node:net';
import { canonicalAddress } from '../../../platform/network/address-list.ts';

/** Both ends belong to it; the texts of one family are as long as each other, and sort as the addresses do. */
export interface AddressRange {
  first: string;
  last: string;
}

/** Undefined: it is no address and no network. */
export function rangeOf(text: string): AddressRange | undefined {
  const [, given = '', prefix] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const key = keyOf(given);
  if (key === undefined) return undefined;
  const nBits = key.length * 4;
  const nPrefix = prefix === undefined ? nBits : Number(prefix);
  // IPv4 that is written as IPv6 has another prefix length than it looks like.
  if (nPrefix > nBits || given.includes(':') !== nBits > 32) return undefined;
  const free = 2n ** BigInt(nBits - nPrefix) - 1n;
  const first = BigInt(`0x${key}`) & ~free;
  const written = (value: bigint): string => value.toString(16).padStart(key.length, '0');
  return { first: written(first), last: written(first | free) };
}

export function overlaps(a: AddressRange, b: AddressRange): boolean {
  return a.first.length === b.first.length && a.first <= b.last && b.first <= a.last;
}

export class AddressRanges {
  /** Sorted, and apart from each other; by the length of their texts. */
  readonly #ranges = new Map<number, AddressRange[]>();

  constructor(ranges: readonly AddressRange[]) {
    for (const [length, family] of Map.groupBy(ranges, ({ first }) => first.length)) this.#ranges.set(length, joined(family));
  }

  has(address: string): boolean {
    const key = keyOf(address);
    const ranges = key === undefined ? undefined : this.#ranges.get(key.length);
    if (key === undefined || ranges === undefined) return false;
    let [low, high] = [0, ranges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ranges[middle] as AddressRange).first <= key) low = middle + 1;
      else high = middle;
    }
    return low > 0 && key <= (ranges[low - 1] as AddressRange).last;
  }
}

function joined(ranges: readonly AddressRange[]): AddressRange[] {
  const result: AddressRange[] = [];
  for (const range of ranges.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    const before = result.at(-1);
    if (before !== undefined && range.first <= before.last) {
      if (range.last > before.last) before.last = range.last;
    } else result.push({ ...range });
  }
  return result;
}

/** Hexadecimal digits: 8 of IPv4, 32 of IPv6. */
function keyOf(address: string): string | undefined {
  const canonical = canonicalAddress(address);
  if (canonical === undefined) return undefined;
  if (isIP(canonical) === 4)
    return canonical
      .split('.')
      .map((part) => Number(part).toString(16).padStart(2, '0'))
      .join('');
  const [head = '', tail] = canonical.split('::');
  const groups = (text: string | undefined): string[] => (text === undefined || text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail)];
  const zeros = new Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join('');
}
