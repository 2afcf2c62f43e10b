/**
 * A light stemmer that need not know the language: a question of six words does not tell it. It takes the endings of English, German and
 * the Romance languages from Latin words, and those of Russian from Cyrillic ones. Both sides of a search are cut alike, and terms of four
 * letters find what it misses.
 */

/** Folded, as the words are: without case and accents. Longest first. */
const CYRILLIC = sorted(
  'иями ями ами иеи ием иям иях ях их ых ым им ам ом ов ев еи ем ям ах ию ью ия ья ого его ому ему ыми ими ои ыи ии ое ее ые ие ая яя ую юю ешь ишь ете ите ет ит ют ут ят ат ла ло ли ть ти ся сь ось ась а е и о у ы ь ю я',
);
const LATIN = sorted('ings ing edly ed ern erin ies en er em es est e n a o i as os is ung ungen heit keit lich isch');

/** Fewer letters are no stem. */
const LEAST_STEM = 3;

/** `word` is folded. */
export function stem(word: string): string {
  if (/\d/.test(word)) return word;
  if (/^[a-z]+$/.test(word)) return stemLatin(word);
  return /^[\u0400-\u04ff]+$/.test(word) ? stemCyrillic(word) : word;
}

function stemLatin(word: string): string {
  const plural = word.length > LEAST_STEM && /[^siu]s$/.test(word) ? word.slice(0, -1) : word;
  const once = strip(plural, LATIN, LEAST_STEM + 1);
  const twice = strip(once, LATIN, LEAST_STEM + 1);
  // `running` and `run`, `happy` and `happiness` without its ending.
  return twice.replace(/([bdfglmnprt])\1$/, '$1').replace(/(?<=.{3})[iy]$/, '');
}

function stemCyrillic(word: string): string {
  const reflexive = word.length > LEAST_STEM + 3 ? word.replace(/с[ья]$/, '') : word;
  const once = strip(reflexive, CYRILLIC, LEAST_STEM);
  return once.replace(/нн$/, 'н').replace(/(?<=.{3})[иь]$/, '');
}

function strip(word: string, endings: readonly string[], least: number): string {
  const ending = endings.find((each) => word.length - each.length >= least && word.endsWith(each));
  return ending === undefined ? word : word.slice(0, -ending.length);
}

function sorted(endings: string): readonly string[] {
  return [...new Set(endings.split(' '))].sort((a, b) => b.length - a.length);
}
