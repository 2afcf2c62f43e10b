/** What a model itself said in an earlier answer. Models write as they believe to have written before, and nobody else may say that he quotes. */
import { withoutNotice } from './nothing-found.ts';
import { withoutQuotation } from './quotation/quotation.ts';

/** Without the sentence in front and the quotation behind that were not the model's; all of it where nothing else is left. */
export function ownWords(answer: string): string {
  const own = withoutQuotation(withoutNotice(answer)).trim();
  return own === '' ? answer : own;
}
