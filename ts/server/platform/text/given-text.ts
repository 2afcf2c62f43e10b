/**
 * What a text from outside may be, before it becomes a value: a name, an identifier or a text to be stored. The parts of paths, queries, forms and
 * command lines are judged here, and so are the strings of JSON bodies.
 */

/** Escapes that are the only way for a NUL and for half of a surrogate pair into JSON that is UTF-8. */
const SUSPICIOUS_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;
/** What decoders put in the place of bytes that are no UTF-8. */
const REPLACEMENT = '\uFFFD';

/** How a text goes on after its name: "holds ...". Undefined: nothing is wrong with it. */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'holds a NUL character (U+0000), which cannot be stored; remove it';
  if (!text.isWellFormed()) return 'holds half of a surrogate pair, which is no character; send whole characters';
  return undefined;
}

/** Of a text that was decoded before we saw it, which hides bytes that are no UTF-8. */
export function decodedTextFault(text: string): string | undefined {
  if (text.includes(REPLACEMENT)) return 'holds bytes that are not UTF-8, or the character that stands for such; send UTF-8';
  return textFault(text);
}

/** Whether the strings of a JSON document may hold what textFault() refuses. Most documents hold no such escape, and are not walked. */
export function mayHoldFaultyText(json: string): boolean {
  return json.includes('\\u') && SUSPICIOUS_ESCAPE.test(json);
}

interface JsonTextFault {
  /** Dotted, for example `messages[0].role`; empty for the value itself. */
  member: string;
  fault: string;
}

/** The first string, or name of a member, that textFault() refuses. */
export function findJsonTextFault(root: unknown): JsonTextFault | undefined {
  const waiting: [member: string, value: unknown][] = [['', root]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [member, value] = next;
    const fault = typeof value === 'string' ? textFault(value) : undefined;
    if (fault !== undefined) return { member, fault };
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, each] of Object.entries(value)) {
      const ofName = textFault(name);
      if (ofName !== undefined) return { member, fault: `has a member whose name ${ofName}` };
      if (typeof each === 'string' || typeof each === 'object') waiting.push([memberName(member, name, value), each]);
    }
  }
  return undefined;
}

function memberName(parent: string, name: string, owner: object): string {
  if (Array.isArray(owner)) return `${parent}[${name}]`;
  return parent === '' ? name : `${parent}.${name}`;
}

/**
 * Puts U+FFFD in the place of each half of a surrogate pair, as every encoder to UTF-8 writes it, within the value itself. NULs stay. A walk, since
 * a reviver of JSON.parse() takes several times as long.
 */
export function makeWellFormed(root: unknown): unknown {
  const holder = { root };
  const waiting: Record<string, unknown>[] = [holder];
  for (let owner = waiting.pop(); owner !== undefined; owner = waiting.pop()) {
    for (const [name, value] of Object.entries(owner)) {
      const written = name.toWellFormed();
      if (written !== name) delete owner[name];
      if (typeof value === 'object' && value !== null) waiting.push(value as Record<string, unknown>);
      const isChanged = written !== name || (typeof value === 'string' && !value.isWellFormed());
      if (isChanged) owner[written] = typeof value === 'string' ? value.toWellFormed() : value;
    }
  }
  return holder.root;
}
