/** Writes a prompt, or changes one. */
import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { directionOf } from '../../design/direction.ts';
import { Field } from '../../design/field.tsx';
import { Notice } from '../../design/notice.tsx';
import { Switch } from '../../design/switch.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { hasRole } from '../../session/session.ts';
import { draft } from '../composer/draft.ts';
import { type Prompt, savePrompt } from './prompt-library.ts';

const MAX_LENGTH = 20_000;

export function PromptForm({ prompt, onDone }: { prompt: Prompt | undefined; onDone(): void }) {
  const [title, setTitle] = useState(prompt?.title ?? '');
  const [content, setContent] = useState(prompt?.content ?? draft.value.slice(0, MAX_LENGTH));
  const [isShared, setShared] = useState(prompt?.shared ?? false);
  const [error, setError] = useState<unknown>();
  const save = (event: Event): void => {
    event.preventDefault();
    savePrompt({ title: title.trim(), content }, isShared, prompt?.id).then(onDone, setError);
  };
  return (
    <Dialog
      title={prompt === undefined ? t('prompt_new') : t('edit_named', { title: prompt.title })}
      closesOutside={false}
      onClose={onDone}
    >
      <form class="stack" onSubmit={save}>
        {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
        <TextField label={t('name')} value={title} maxLength={500} required onInput={setTitle} />
        <Field label={t('prompt_text')}>
          {(control) => (
            <textarea
              class="input"
              dir={directionOf(content)}
              rows={8}
              maxLength={MAX_LENGTH}
              required
              {...control}
              value={content}
              onInput={(event) => setContent(event.currentTarget.value)}
            />
          )}
        </Field>
        {prompt === undefined && hasRole('developer') && (
          <Switch label={t('prompt_for_all')} checked={isShared} onChange={setShared} />
        )}
        <div class="buttons">
          <Button look="plain" onClick={onDone}>
            {t('cancel')}
          </Button>
          <Button look="main" type="submit" disabled={title.trim() === '' || content.trim() === ''}>
            {t('save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
