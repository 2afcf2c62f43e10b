/** Two answers to one question, each with the model that writes it, and the choice to go on with one. */
import { Button } from '../../design/button.tsx';
import { Notice } from '../../design/notice.tsx';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { AnswerMessage } from '../answers/answer-message.tsx';
import type { LiveAnswer } from '../answers/live-answer.ts';
import { LiveMessage } from '../answers/live-message.tsx';
import { live, messages } from '../thread/shown-thread.ts';
import { type AnswerPair, goOnWith, isWriting, rival, rivalFailure } from './compare.ts';

export function ComparedAnswers({ pair }: { pair: AnswerPair }) {
  return (
    <section class="compared" aria-label={t('compared_answers')}>
      <Side id={pair.leftId} writing={live.value} />
      <Side id={pair.rightId} writing={rival.value} failure={rivalFailure.value} />
    </section>
  );
}

interface SideProps {
  id: string;
  writing: LiveAnswer | undefined;
  failure?: unknown;
}

function Side({ id, writing, failure }: SideProps) {
  const stored = messages.value.get(id);
  const choose = (): void => void goOnWith(id).catch((error: unknown) => showToast(explain(error)));
  return (
    <div class="compared-side">
      {stored !== undefined ? <AnswerMessage message={stored} /> : writing?.id === id && <LiveMessage answer={writing} />}
      {failure !== undefined && <Notice tone="danger">{explain(failure)}</Notice>}
      {stored !== undefined && (
        <Button look="plain" size="small" icon="check" disabled={isWriting.value} onClick={choose}>
          {t('go_on_with')}
        </Button>
      )}
    </div>
  );
}
