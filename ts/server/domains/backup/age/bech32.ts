/** Bech32 (BIP 173) without its limit of length, which age's keys are written in: a prefix, bytes in letters, and a checksum that finds typing errors. */

const LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const CHECKSUM_LETTERS = 6;

export interface Bech32 {
  /** In lower case. */
  prefix: string;
  bytes: Uint8Array;
}

/** All in lower case. */
export function encodeBech32({ prefix, bytes }: Bech32): string {
  const fives = regroup(bytes, 8, 5) ?? [];
  const sum = checksum([...expand(prefix), ...fives, 0, 0, 0, 0, 0, 0]) ^ 1;
  const check = Array.from({ length: CHECKSUM_LETTERS }, (_, i) => (sum >>> (5 * (5 - i))) & 31);
  return `${prefix}1${[...fives, ...check].map((five) => LETTERS[five]).join('')}`;
}

/** Undefined for what is none: another letter, both cases, a wrong checksum. */
export function decodeBech32(text: string): Bech32 | undefined {
  const lower = text.toLowerCase();
  if (text !== lower && text !== text.toUpperCase()) return undefined;
  const at = lower.lastIndexOf('1');
  const prefix = lower.slice(0, at);
  const fives = [...lower.slice(at + 1)].map((letter) => LETTERS.indexOf(letter));
  if (at < 1 || fives.length < CHECKSUM_LETTERS || fives.includes(-1)) return undefined;
  if (checksum([...expand(prefix), ...fives]) !== 1) return undefined;
  const bytes = regroup(fives.slice(0, -CHECKSUM_LETTERS), 5, 8);
  return bytes && { prefix, bytes: Uint8Array.from(bytes) };
}

function expand(prefix: string): number[] {
  const codes = [...prefix].map((letter) => letter.charCodeAt(0));
  return [...codes.map((code) => code >>> 5), 0, ...codes.map((code) => code & 31)];
}

function checksum(values: readonly number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [i, generator] of GENERATORS.entries()) if ((top >>> i) & 1) sum ^= generator;
  }
  return sum >>> 0;
}

/** Bits in groups of another size. Bits that are left over at the end are filled with zeros, or must be fewer than a group, and zeros. */
function regroup(values: Iterable<number>, from: number, to: number): number[] | undefined {
  const groups: number[] = [];
  let held = 0;
  let nHeld = 0;
  for (const value of values) {
    held = (held << from) | value;
    nHeld += from;
    while (nHeld >= to) {
      nHeld -= to;
      groups.push((held >>> nHeld) & (2 ** to - 1));
    }
    held &= 2 ** nHeld - 1;
  }
  if (from < to) return nHeld >= from || held !== 0 ? undefined : groups;
  if (nHeld > 0) groups.push((held << (to - nHeld)) & (2 ** to - 1));
  return groups;
}
