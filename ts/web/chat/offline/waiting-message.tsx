/** A question that has not been sent yet. */
import { Button } from '../../design/button.tsx';
import { t } from '../../i18n/language.ts';
import { draft, setDraft } from '../composer/draft.ts';
import type { Question } from '../composer/question.ts';
import { dropWaiting } from './outbox.ts';

export function WaitingMessage({ question }: { question: Question }) {
  const takeBack = (): void => {
    dropWaiting(question.id);
    if (draft.value === '') setDraft(question.text);
  };
  return (
    <article class="message question unsent" aria-label={t('question')}>
      <div class="bubble">{question.text}</div>
      <div class="row small quiet" role="status">
        {t('waits_for_connection')}
        <Button size="small" icon="close" onClick={takeBack}>
          {t('take_back')}
        </Button>
      </div>
    </article>
  );
}
