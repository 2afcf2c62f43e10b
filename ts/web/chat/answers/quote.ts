/** Puts what is marked of an answer, or its beginning, into the message that is being written. */
import { focusComposer } from '../composer/composer-focus.ts';
import { draft, setDraft } from '../composer/draft.ts';
import type { Message } from '../thread/message.ts';

const MAX_LENGTH = 1_000;

export function quoteAnswer(message: Message): void {
  const text = (markedIn(message.id) || message.content).trim();
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH).toWellFormed()} …` : text;
  const quoted = cut
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
  setDraft(`${draft.value === '' ? '' : `${draft.value}\n\n`}${quoted}\n\n`);
  setTimeout(focusComposer);
}

function markedIn(id: string): string {
  const selection = getSelection();
  const article = document.getElementById(`m-${id}`);
  const isInside =
    selection?.anchorNode != null && article?.contains(selection.anchorNode) && article.contains(selection.focusNode);
  return isInside ? selection.toString() : '';
}
