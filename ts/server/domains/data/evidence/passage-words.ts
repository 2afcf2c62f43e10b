/** The words of a passage, with those of its document's name and of its headings. */
import type { PassageResult } from '../knowledge-base.ts';
import { WordSet } from './word-forms.ts';

/** A passage that is one long row is looked at by its beginning. UTF-16 code units. */
export const MAX_PASSAGE = 10_000;

export function passageWords({ source, title = '', heading = '', text }: PassageResult): WordSet {
  return new WordSet([source, title, heading, text.slice(0, MAX_PASSAGE)].join('\n'));
}
