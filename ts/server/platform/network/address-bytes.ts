/** The bytes of an IP address: 4 of IPv4, 16 of IPv6. */

const DOT = 0x2e;
const ZERO = 0x30;

/** The address is a canonical one, see `canonicalAddress`. */
export function addressBytes(canonical: string): Uint8Array {
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
