/** A question that has not been sent yet. */
import { Button } from '../../design/button.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import type { Question } from '../composer/question.ts';
import { restoreDraft } from '../composer/restore-draft.ts';
import { dropWaiting, heldBy } from './outbox.ts';

export function WaitingMessage({ question }: { question: Question }) {
  const onTakeBack = (): void => {
    dropWaiting(question.id);
    restoreDraft(question);
  };
  const reason = heldBy.value;
  return (
    <article class="message question unsent" aria-label={t('question')}>
      <div class="bubble">{question.text}</div>
      <div class="row small quiet" role="status">
        {reason === undefined ? t('waits_for_connection') : t('waits_held', { reason: explain(reason) })}
        <Button size="small" icon="close" onClick={onTakeBack}>
          {t('take_back')}
        </Button>
      </div>
    </article>
  );
}
