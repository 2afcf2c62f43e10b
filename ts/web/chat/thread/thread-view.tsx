/** The messages of the shown branch. It follows the end while an answer grows, unless the reader scrolled away from it; an empty chat does not. */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Refusal } from '../../../client/refusal.ts';
import { Button } from '../../design/button.tsx';
import { Notice } from '../../design/notice.tsx';
import { t } from '../../i18n/language.ts';
import { signInAgain } from '../../session/ended-session.ts';
import { explain } from '../../session/explain.ts';
import { AnswerMessage } from '../answers/answer-message.tsx';
import { LiveMessage } from '../answers/live-message.tsx';
import { isWriting, pair } from '../compare/compare.ts';
import { ComparedAnswers } from '../compare/compared-answers.tsx';
import { followAddress } from '../location.ts';
import { waitingHere } from '../offline/outbox.ts';
import { WaitingMessage } from '../offline/waiting-message.tsx';
import { answerLast } from './answer-question.ts';
import { interceptLink } from './followed-link.ts';
import { failure, isLoading, live, messages, path, shared, sought } from './shown-thread.ts';
import { pathTo } from './thread-tree.ts';
import { useMessageWindow } from './use-message-window.ts';
import { UserMessage } from './user-message.tsx';
import { Welcome } from './welcome.tsx';

const NEAR_END = 80;
/** Pixels before an end of what is drawn, at which more is drawn there. */
const NEAR_EDGE = 1_500;

export function ThreadView() {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const compared = pair.value;
  // Both answers stand below their question, whichever of them the branch goes on with.
  const all = compared === undefined ? path.value : pathTo(messages.value, compared.questionId);
  const waiting = waitingHere.value;
  const { window, onScroll, showEnd, showAround } = useMessageWindow(all, scroller, isAtEnd);
  const isEndDrawn = window.end === all.length;
  const answer = live.value;
  const follow = (): void => {
    const element = scroller.current;
    if (isAtEnd.current && element?.querySelector('.welcome') === null) element.scrollTop = element.scrollHeight;
  };
  const soughtIndex = sought.value === undefined ? -1 : all.findIndex(({ id }) => id === sought.value);
  useLayoutEffect(() => {
    if (soughtIndex !== -1) return;
    isAtEnd.current = true;
    if (isEndDrawn) follow();
    else showEnd();
  }, [all[0]?.id, all.length, answer, compared, waiting.length]);
  useLayoutEffect(() => {
    if (soughtIndex === -1) return;
    isAtEnd.current = false;
    const element = document.getElementById(`m-${sought.value}`);
    if (element === null) return showAround(soughtIndex);
    element.scrollIntoView({ block: 'start' });
    sought.value = undefined;
  }, [soughtIndex, window.first, window.end]);
  useEffect(() => {
    if (content.current === null) return;
    // Told behind the layout of a frame: whoever asks for the height before it would have the page laid out twice.
    const observer = new ResizeObserver(follow);
    observer.observe(content.current);
    return () => observer.disconnect();
  }, []);
  const isEmpty =
    all.length === 0 && answer === undefined && !isLoading.value && waiting.length === 0 && shared.value === undefined;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: links are followed by Enter, which is a click
    // biome-ignore lint/a11y/noStaticElementInteractions: it listens for the links inside
    <div
      class="thread"
      ref={scroller}
      onClick={interceptLink}
      onAuxClick={interceptLink}
      onScroll={({ currentTarget }) => {
        const { scrollHeight, scrollTop, clientHeight } = currentTarget;
        const below = scrollHeight - scrollTop - clientHeight;
        isAtEnd.current = isEndDrawn && below < NEAR_END;
        onScroll(scrollTop < NEAR_EDGE, below < NEAR_EDGE);
      }}
    >
      <div class="measure" ref={content}>
        {isEmpty && <Welcome />}
        {isLoading.value && <span class="spinner" aria-label={t('loading')} role="status" />}
        {all
          .slice(window.first, window.end)
          .map((message) =>
            message.role === 'user' ? (
              <UserMessage key={message.id} message={message} />
            ) : (
              <AnswerMessage key={message.id} message={message} />
            ),
          )}
        {isEndDrawn && (
          <>
            {compared !== undefined && <ComparedAnswers pair={compared} />}
            {answer !== undefined && compared === undefined && <LiveMessage key={answer.id} answer={answer} />}
            {waiting.map((question) => (
              <WaitingMessage key={question.id} question={question} />
            ))}
            {failure.value !== undefined ? <Failure error={failure.value} /> : isUnanswered() && <Unanswered />}
          </>
        )}
      </div>
    </div>
  );
}

function isUnanswered(): boolean {
  return path.value.at(-1)?.role === 'user' && !isWriting.value && !isLoading.value && shared.value === undefined;
}

/** A question whose answer never came, since its page was closed. */
function Unanswered() {
  return (
    <div class="unanswered">
      <Retry />
    </div>
  );
}

function Retry() {
  return (
    <Button look="plain" size="small" icon="refresh" onClick={() => void answerLast()}>
      {t('try_again')}
    </Button>
  );
}

/** What failed goes on behind it: the answer, or the conversation that did not open. */
function SignIn() {
  const goOn = async (): Promise<void> => {
    if (!(await signInAgain())) return;
    failure.value = undefined;
    if (isUnanswered()) await answerLast();
    else followAddress();
  };
  return (
    <Button look="plain" size="small" icon="user" onClick={() => void goOn()}>
      {t('sign_in')}
    </Button>
  );
}

function Failure({ error }: { error: unknown }) {
  return (
    <Notice tone="danger">
      <p>{explain(error)}</p>
      {error instanceof Refusal && error.status === 401 ? <SignIn /> : isUnanswered() && <Retry />}
    </Notice>
  );
}
