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

/** The fields of a message that may be sent on. `left` names more that are left out. */
export function endToEndOf(
  headers: ReplyHeaders | ReadonlyMap<string, string>,
  left: ReadonlySet<string> = new Set(),
): Record<string, string | string[]> {
  const fields = headers instanceof Map ? [...headers] : Object.entries(headers as ReplyHeaders);
  const named = namedByConnection(fields);
  const kept: Record<string, string | string[]> = {};
  for (const [field, value] of fields) {
    const name = field.toLowerCase();
    if (HOP_BY_HOP.has(name) || OF_THE_MESSAGE.has(name) || named.has(name) || left.has(name) || name === '__proto__') continue;
    const values = [kept[name] ?? [], value].flat();
    kept[name] = values.length === 1 ? (values[0] as string) : values;
  }
  return kept;
}

function namedByConnection(fields: readonly (readonly [string, string | readonly string[]])[]): Set<string> {
  const values = fields.filter(([name]) => name.toLowerCase() === 'connection').flatMap(([, value]) => value);
  return new Set(values.flatMap((value) => value.split(',')).map((name) => name.trim().toLowerCase()));
}
