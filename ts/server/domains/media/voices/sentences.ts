/** A text as the sentences that are spoken one by one, so that the first is heard while the others are made. */

/** Longer sentences are cut between words: an engine holds a whole piece. */
const MOST_CHARACTERS = 400;
const CAN_BE_SAID = /[\p{L}\p{N}]/u;

/** Control characters, which engines may take for commands, become spaces. */
export function sentencesOf(text: string, language = 'en'): string[] {
  const plain = text.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, (run) => (/\n.*\n/.test(run) ? '\u2029' : ' '));
  return plain
    .split('\u2029')
    .flatMap((paragraph) => [...segmenterOf(language).segment(paragraph)].map(({ segment }) => segment.trim()))
    .flatMap(pieces)
    .filter((sentence) => CAN_BE_SAID.test(sentence));
}

function segmenterOf(language: string): Intl.Segmenter {
  try {
    return new Intl.Segmenter(language, { granularity: 'sentence' });
  } catch {
    // Engines name languages that are no tags of BCP 47.
    return new Intl.Segmenter('en', { granularity: 'sentence' });
  }
}

function pieces(sentence: string): string[] {
  if (sentence.length <= MOST_CHARACTERS) return [sentence];
  const made: string[] = [];
  let piece = '';
  for (const word of sentence.split(/\s+/).flatMap((each) => each.match(/.{1,400}/gsu) ?? [])) {
    if (piece.length + word.length + 1 > MOST_CHARACTERS && piece !== '') {
      made.push(piece);
      piece = '';
    }
    piece = piece === '' ? word : `${piece} ${word}`;
  }
  return piece === '' ? made : [...made, piece];
}
