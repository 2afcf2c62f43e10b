/** Puts a question that did not go out back to where it was written, with its files, beside whatever is being written there. */
import { attachAgain } from '../files/attached-files.ts';
import { draft, setDraft } from './draft.ts';
import type { Question } from './question.ts';

export function restoreDraft({ text, metadata, conversationId }: Pick<Question, 'text' | 'metadata' | 'conversationId'>): void {
  setDraft([text, draft.value].filter((each) => each !== '').join('\n'));
  if (metadata !== undefined) attachAgain(metadata, conversationId);
}
