/** Names that a grant lists, in which `*` stands for any characters, also none. */

/** For the schema of requests. */
export const MAX_NAME_LENGTH = 256;
export const MAX_NAMES = 1_000;

export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matches(pattern, name));
}

/** In a time that is linear in the name for each part between stars: the first place where a part fits is as good as any later one. */
function matches(pattern: string, name: string): boolean {
  const [head = '', ...parts] = pattern.split('*');
  const tail = parts.pop();
  if (tail === undefined) return name === head;
  if (name.length < head.length + tail.length || !name.startsWith(head) || !name.endsWith(tail)) return false;
  const end = name.length - tail.length;
  let at = head.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
