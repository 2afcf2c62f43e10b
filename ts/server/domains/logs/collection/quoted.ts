/** A text as RainerScript writes it: the one way by which a value enters rsyslog's configuration. Throws for control characters, which none may hold. */
export function quoted(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new Error('a text of the configuration holds a control character');
  return `"${text.replace(/[\\"$]/g, (character) => `\\${character}`)}"`;
}
