/** Finds doc comments that begin without a subject or a verb: a reader who meets the line alone does not understand "Of the caller". */
import type { Sources } from './unused-exports.ts';

/** A clause that begins with one of these is a part of a sentence, whatever follows. */
const CLAUSES = /^(What|Who|Whom|Whose|Which|Of)\b/;
/** A phrase that begins with one of these may open a sentence, whose own part then stands behind a comma. */
const PHRASES =
  /^(For|In|Without|On|Where|When|By|From|With|As|At|To|Behind|Between|Beside|Among|After|Before|Until|Since|If|Under|Above|Below|Into|Within|Through|Per|Than|Like)\b/;

/** @returns places of the comments. */
export function headlessComments(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) =>
    [...text.matchAll(/^[ \t]*\/\*\*(.*?)\*\//gms)].flatMap(({ index, 1: comment = '' }) =>
      isHeadless(wordsOf(comment))
        ? [`${path}:${text.slice(0, index).split('\n').length}: ${wordsOf(comment).slice(0, 80)}`]
        : [],
    ),
  );
}

/** The text of a comment without its stars, on one line. */
function wordsOf(comment: string): string {
  return comment
    .split('\n')
    .map((line) => line.trim().replace(/^\*+ ?/, ''))
    .join(' ')
    .trim();
}

export function isHeadless(words: string): boolean {
  const [first = ''] = words.split(/(?<=[.;:])\s/);
  return CLAUSES.test(first) || (PHRASES.test(first) && !first.includes(','));
}
