/** Where a question is written. Enter sends, Shift+Enter begins a line. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { directionOf } from '../../design/direction.ts';
import { t } from '../../i18n/language.ts';
import { isWriting, rival } from '../compare/compare.ts';
import { RivalPicker } from '../compare/rival-picker.tsx';
import { openDialog } from '../dialogs.ts';
import { attached, isAttaching, takeFiles } from '../files/attached-files.ts';
import { AttachmentTray } from '../files/attachment-tray.tsx';
import { chooseFiles, takePasted } from '../files/take-files.ts';
import { loadRenderer } from '../markdown/renderer.ts';
import { isStarted } from '../start.ts';
import { stop, stopAnswer } from '../thread/answer-question.ts';
import { keepPreferences } from '../thread/change-conversation.ts';
import type { QuestionFacts } from '../thread/message.ts';
import { conversation, isLoading, isTemporary, preferences } from '../thread/shown-thread.ts';
import { draft, setDraft } from './draft.ts';
import { ModelPicker } from './model-picker.tsx';
import { newQuestion } from './question.ts';
import { send as sendQuestion } from './send.ts';

export function Composer() {
  const area = useRef<HTMLTextAreaElement>(null);
  const text = draft.value;
  useLayoutEffect(() => {
    const element = area.current;
    if (element === null) return;
    element.style.height = 'auto';
    element.style.height = `${Math.min(element.scrollHeight, innerHeight * 0.4)}px`;
  }, [text]);
  const hasFiles = attached.value.some(({ state }) => state !== 'refused');
  const isOpen = isStarted.value && !isLoading.value;
  const isReady = isOpen && (text.trim() !== '' || hasFiles) && !isWriting.value && !isAttaching.value;
  // What is sent before the conversation is open goes out then, unless it is changed meanwhile.
  const [isAsked, setAsked] = useState(false);
  const send = (): void => {
    if (!isOpen) setAsked(true);
    if (!isReady) return;
    setAsked(false);
    setDraft('');
    const metadata = takeFiles();
    void ask(text, metadata).catch(() => {
      // What was refused comes back to be changed.
      if (draft.value === '') setDraft(text);
    });
  };
  useEffect(() => {
    if (isAsked) send();
  }, [isReady]);
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {attached.value.length > 0 && <AttachmentTray />}
      <textarea
        ref={area}
        id="composer"
        rows={1}
        dir={directionOf(text)}
        aria-label={t('message')}
        placeholder={t('ask_something')}
        value={text}
        onPaste={takePasted}
        onInput={(event) => {
          // A slash alone asks for the prompt library.
          const { value } = event.currentTarget;
          loadRenderer();
          setAsked(false);
          if (value === '/' && text === '') openDialog.value = 'prompts';
          setDraft(value === '/' && text === '' ? '' : value);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <div class="composer-bar">
        <Button icon="attach" label={t('attach_files')} onClick={chooseFiles} />
        <ModelPicker />
        <RivalPicker />
        <Button
          icon="book"
          label={t('knowledge')}
          aria-pressed={preferences.value.knowledge.length > 0}
          onClick={() => (openDialog.value = 'knowledge')}
        />
        <Button icon="settings" label={t('preferences')} onClick={() => (openDialog.value = 'preferences')} />
        {conversation.value === undefined && (
          <Button
            icon="ghost"
            label={t('temporary')}
            aria-pressed={isTemporary.value}
            onClick={() => (isTemporary.value = !isTemporary.value)}
          />
        )}
        {isWriting.value ? (
          <Button key="stop" class="push" look="plain" icon="stop" label={t('stop')} onClick={stopBoth} />
        ) : (
          <Button key="send" class="push" look="main" type="submit" icon="send" label={t('send')} disabled={!isReady} />
        )}
      </div>
    </form>
  );
}

export function stopBoth(): void {
  stop();
  stopAnswer(rival.value);
}

/** Files that were added to a knowledge base are of use to the conversation only where it is looked up. */
async function ask(text: string, metadata: QuestionFacts | undefined): Promise<void> {
  const known = preferences.value.knowledge;
  const added = (metadata?.files ?? []).map(({ namespace }) => namespace).filter((each) => !known.includes(each));
  if (added.length > 0) await keepPreferences({ ...preferences.value, knowledge: [...known, ...new Set(added)] });
  await sendQuestion(newQuestion(text, metadata === undefined ? {} : { metadata }));
}
