/** What a model itself said in an earlier answer. Models write as they believe to have written before, and nobody else may say that he quotes. */
import { withoutEvidence } from '../evidence/evidence-text.ts';
import { withoutNotice } from './nothing-found.ts';

/** Without the sentence in front and the evidence behind that were not the model's; all of it where nothing else is left. */
export function ownWords(answer: string): string {
  const own = withoutEvidence(withoutNotice(answer)).trim();
  return own === '' ? answer : own;
}
