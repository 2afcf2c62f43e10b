/** Fields that concern one connection and must not be passed on (RFC 9110 section 7.6.1). */
import type { ReplyHeaders } from './reply.ts';

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-authentication-info',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);
/** Told anew by the connection on which they are sent. */
const OF_THE_MESSAGE = new Set(['host', 'content-length', 'date']);

/** Name, value, name, value ... to fields that may be sent on. `left` names more that are left out. */
export function endToEndHeaders(
  fields: readonly string[],
  left: ReadonlySet<string> = new Set(),
): Record<string, string | string[]> {
  const named = namedByConnection(fields);
  const kept: Record<string, string | string[]> = {};
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = (fields[i] ?? '').toLowerCase();
    const value = fields[i + 1] ?? '';
    if (HOP_BY_HOP.has(name) || OF_THE_MESSAGE.has(name) || named.has(name) || left.has(name) || name === '__proto__') continue;
    const before = kept[name];
    kept[name] = before === undefined ? value : [...(typeof before === 'string' ? [before] : before), value];
  }
  return kept;
}

/** The same for fields of a reply or of a received request. */
export function endToEndOf(headers: ReplyHeaders | ReadonlyMap<string, string>): Record<string, string | string[]> {
  const entries = headers instanceof Map ? [...headers] : Object.entries(headers as ReplyHeaders);
  return endToEndHeaders(entries.flatMap(([name, value]) => [value].flat().flatMap((one) => [name, one])));
}

function namedByConnection(fields: readonly string[]): Set<string> {
  const named = new Set<string>();
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (fields[i]?.toLowerCase() !== 'connection') continue;
    for (const name of (fields[i + 1] ?? '').split(',')) named.add(name.trim().toLowerCase());
  }
  return named;
}
