/** A question. It can be asked anew, which begins a branch. */
import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { copyText } from '../../design/clipboard.ts';
import { directionOf } from '../../design/direction.ts';
import { t } from '../../i18n/language.ts';
import { BranchSwitch } from '../answers/branch-switch.tsx';
import { isWriting } from '../compare/compare.ts';
import { newQuestion } from '../composer/question.ts';
import { send as sendQuestion } from '../composer/send.ts';
import { MessageFiles } from '../files/message-files.tsx';
import { MAX_TEXT, type NewMemory, remember } from '../memory/memories.ts';
import { type Message, questionFactsOf } from './message.ts';
import { shared } from './shown-thread.ts';

export function UserMessage({ message }: { message: Message }) {
  const [draft, setDraft] = useState<string | undefined>();
  if (draft !== undefined) return <Editor message={message} draft={draft} onDraft={setDraft} />;
  return (
    <article class="message question" id={`m-${message.id}`} aria-label={t('question')}>
      <MessageFiles facts={questionFactsOf(message)} />
      {message.content !== '' && <div class="bubble">{message.content}</div>}
      <div class="message-bar">
        <BranchSwitch message={message} />
        {shared.value === undefined && (
          <Button
            size="small"
            icon="edit"
            label={t('edit_question')}
            disabled={isWriting.value}
            onClick={() => setDraft(message.content)}
          />
        )}
        {shared.value === undefined && message.content !== '' && message.content.length <= MAX_TEXT && (
          <Button size="small" icon="pin" label={t('remember')} onClick={() => void remember(said(message))} />
        )}
        <Button size="small" icon="copy" label={t('copy')} onClick={() => copyText(message.content)} />
      </div>
    </article>
  );
}

/** The memory names the message that it was said in. */
function said({ id, conversation_id: conversationId, content }: Message): NewMemory {
  return { text: content, message_id: id, conversation_id: conversationId };
}

interface EditorProps {
  message: Message;
  draft: string;
  onDraft(draft: string | undefined): void;
}

function Editor({ message, draft, onDraft }: EditorProps) {
  const send = (event: Event): void => {
    event.preventDefault();
    onDraft(undefined);
    const { files, images } = questionFactsOf(message);
    const metadata = { ...(files.length === 0 ? {} : { files }), ...(images.length === 0 ? {} : { images }) };
    void sendQuestion(newQuestion(draft, { parentId: message.parent_id, metadata })).catch(() => undefined);
  };
  return (
    <form class="message editor" onSubmit={send}>
      <textarea
        class="input"
        dir={directionOf(draft)}
        aria-label={t('edit_question')}
        value={draft}
        ref={(element) => element?.focus()}
        onInput={(event) => onDraft(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            event.preventDefault();
            onDraft(undefined);
          }
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send(event);
        }}
      />
      <div class="row">
        <span class="small quiet">{t('edit_makes_branch')}</span>
        <Button class="push" onClick={() => onDraft(undefined)}>
          {t('cancel')}
        </Button>
        <Button look="main" type="submit" disabled={draft.trim() === ''}>
          {t('ask_again')}
        </Button>
      </div>
    </form>
  );
}
