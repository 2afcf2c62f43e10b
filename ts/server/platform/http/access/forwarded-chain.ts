/** The addresses that a header of proxies lists, in the order in which the request went: the client first, the last proxy last. */
import { canonicalAddress } from '../../network/address-list.ts';

/** Undefined stands for what names no address: `unknown`, an obfuscated name, garbage. */
export type ForwardedChain = readonly (string | undefined)[];

/** `name=value` of RFC 7239 with a token or a quoted string; whatever is left over makes an element one that names no address. */
const PAIR = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+.^_`|~0-9A-Za-z-]+))\s*$/;

/** X-Forwarded-For: addresses separated by commas, some proxies add ports. Empty elements are skipped (RFC 9110 section 5.6.1). */
export function readForwardedFor(value: string): ForwardedChain {
  return elementsOf(value, ',').map(addressOf);
}

/** Forwarded (RFC 7239): the `for` of each element. */
export function readForwarded(value: string): ForwardedChain {
  return elementsOf(value, ',').map((element) => {
    const pairs = elementsOf(element, ';').map((pair) => PAIR.exec(pair));
    const named = pairs.filter((pair) => pair?.[1]?.toLowerCase() === 'for');
    if (pairs.includes(null) || named.length !== 1) return undefined;
    return addressOf((named[0]?.[2]?.replace(/\\(.)/g, '$1') ?? named[0]?.[3] ?? '').trim());
  });
}

/** Separators inside of quotes do not count. */
function elementsOf(value: string, separator: ',' | ';'): string[] {
  const elements: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let i = 0; i < value.length; i++) {
    if (isQuoted && value[i] === '\\') i += 1;
    else if (value[i] === '"') isQuoted = !isQuoted;
    else if (value[i] === separator && !isQuoted) {
      elements.push(value.slice(start, i));
      start = i + 1;
    }
  }
  return [...elements, value.slice(start)].map((element) => element.trim()).filter((element) => element !== '');
}

/** `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:4711`. */
function addressOf(text: string): string | undefined {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text);
  if (bracketed !== null) return canonicalAddress(bracketed[1] ?? '');
  return canonicalAddress(/^\d+\.\d+\.\d+\.\d+:\d{1,5}$/.test(text) ? text.slice(0, text.indexOf(':')) : text);
}
