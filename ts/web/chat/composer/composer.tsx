/** Where a question is written. Enter sends, Shift+Enter begins a line. */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { directionOf } from '../../design/direction.ts';
import { t } from '../../i18n/language.ts';
import { isWriting, rival } from '../compare/compare.ts';
import { RivalPicker } from '../compare/rival-picker.tsx';
import { openDialog } from '../dialogs.ts';
import { attached, isAttaching, takeFiles } from '../files/attached-files.ts';
import { AttachmentTray } from '../files/attachment-tray.tsx';
import { chooseFiles, takePasted } from '../files/take-files.ts';
import { addressed } from '../location.ts';
import { loadRenderer } from '../markdown/renderer.ts';
import { DictationButton } from '../speech/dictation-button.tsx';
import { isStarted } from '../start.ts';
import { stop, stopAnswer } from '../thread/answer-question.ts';
import { withKnowledge } from '../thread/change-conversation.ts';
import type { QuestionFacts } from '../thread/message.ts';
import { conversation, isLoading, isTemporary, preferences } from '../thread/shown-thread.ts';
import { draft, sent, setDraft } from './draft.ts';
import { ModelPicker } from './model-picker.tsx';
import { newQuestion } from './question.ts';
import { restoreDraft } from './restore-draft.ts';
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
  const early = useRef<EarlyQuestion | undefined>(undefined);
  const send = (): void => {
    if (!isOpen && (text.trim() !== '' || hasFiles)) early.current = { text, address: location.hash };
    if (!isReady) return;
    early.current = undefined;
    setDraft('');
    const metadata = takeFiles();
    void ask(text, metadata);
  };
  useEffect(() => {
    if (early.current === undefined || !isOpen) return;
    if (!isStillMeant(early.current, text)) early.current = undefined;
    else if (isReady) send();
  }, [isOpen, isReady, text]);
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
          early.current = undefined;
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
        <DictationButton />
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

/** What is sent before its conversation is open goes out then: there alone, and only as it was. */
interface EarlyQuestion {
  text: string;
  /** The address of the page, which names the conversation. */
  address: string;
}

function isStillMeant({ text, address }: EarlyQuestion, written: string): boolean {
  const { kind, id } = addressed() ?? {};
  return text === written && address === location.hash && (kind === 'c' ? id : undefined) === conversation.value?.id;
}

/** Asks a question; one that is refused comes back. */
async function ask(text: string, metadata: QuestionFacts | undefined): Promise<void> {
  // Files of former times lie in a knowledge base, and are of use to the conversation only where it is looked up.
  const knowledge = (metadata?.files ?? []).flatMap(({ namespace }) => namespace ?? []);
  preferences.value = withKnowledge(preferences.value, knowledge);
  const question = newQuestion(text, { knowledge, ...(metadata === undefined ? {} : { metadata }) });
  sent.value = text;
  try {
    await sendQuestion(question);
  } catch {
    restoreDraft(question);
  } finally {
    if (sent.value === text) sent.value = '';
  }
}
