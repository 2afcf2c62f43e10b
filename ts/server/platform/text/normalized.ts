/** Unicode's normal forms of text that comes from outside, in time that grows with its length. */

/**
 * Normalising sorts the marks of a base, which takes quadratic time. No writing puts more of them on one base (UAX #15, section 13); the
 * half-width voicing marks of Japanese become marks.
 */
const MOST_MARKS = 30;
const MARKS_BEYOND = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

export function normalized(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  return limitMarks(text).normalize(form);
}

/** Without the marks of a base that come behind the first thirty. */
export function limitMarks(text: string): string {
  return text.length <= MOST_MARKS ? text : text.replace(MARKS_BEYOND, '$1');
}
