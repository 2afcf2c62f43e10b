/** Whether a run of letters and digits reads like key material, rather than like a word, a name, a path or a date. */

const SHORTEST = 16;
/** The share of places between two characters where the kind of character changes: words and numbers have few, random text many. */
const MIXED = 0.25;
/** Names in camel case change often too where they have no digits. */
const LETTERS_ALONE = 0.42;
/** Long letters alone: of a key half are capitals, of a name in camel case a quarter at most. */
const LONG = 32;
const LONG_MIXED = 0.3;
const FEWEST_CAPITALS = 0.3;
const TIME = /^\d{4}-?\d\d-?\d\d[T_-]?\d{0,9}Z?$/;

export function looksRandom(run: string): boolean {
  return isKeyOfFortyCharacters(run) || run.split(/[/=~+]+/).some(isRandomPart) || isRandomPart(run.replace(/[=+/~]/g, ''));
}

function isRandomPart(part: string): boolean {
  if (part.length < SHORTEST || TIME.test(part)) return false;
  const letters = part.replace(/[-_]/g, '');
  if (/^[0-9a-f]{16,}$/i.test(letters)) return /\d/.test(letters) && /[a-f]/i.test(letters);
  if (letters.length < SHORTEST) return false;
  // Words that hyphens join are judged one by one: model names and metrics are made of them.
  const words = part.split(/[-_]/);
  const isName = words.every((word) => word.length < 12 && changes(word) <= 1);
  return !isName && changes(letters) / (letters.length - 1) >= leastMixed(letters);
}

function leastMixed(letters: string): number {
  if (/\d/.test(letters)) return MIXED;
  const capitals = letters.replace(/[^A-Z]/g, '').length / letters.length;
  const isHalfCapitals = capitals >= FEWEST_CAPITALS && capitals <= 1 - FEWEST_CAPITALS;
  return letters.length >= LONG && isHalfCapitals ? LONG_MIXED : LETTERS_ALONE;
}

/** Secret keys of AWS: forty characters of base64, in which slashes are no path. */
function isKeyOfFortyCharacters(run: string): boolean {
  return run.length === 40 && /[a-z]/.test(run) && /[A-Z]/.test(run) && /^[A-Za-z0-9+/]+$/.test(run) && changes(run) >= 12;
}

function changes(text: string): number {
  let n = 0;
  for (let i = 1; i < text.length; i += 1) if (kindOf(text, i) !== kindOf(text, i - 1)) n += 1;
  return n;
}

function kindOf(text: string, i: number): 'digit' | 'upper' | 'lower' {
  const character = text.charAt(i);
  if (character >= '0' && character <= '9') return 'digit';
  return character >= 'A' && character <= 'Z' ? 'upper' : 'lower';
}
