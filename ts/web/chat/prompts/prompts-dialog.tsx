/** The prompt library: a prompt goes into the message, or becomes the conversation's instructions. */
import { useEffect, useState } from 'preact/hooks';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { directionOf } from '../../design/direction.ts';
import { Notice } from '../../design/notice.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { hasRole } from '../../session/session.ts';
import { focusComposer } from '../composer/composer-focus.ts';
import { draft, setDraft } from '../composer/draft.ts';
import { openDialog } from '../dialogs.ts';
import { keepPreferences } from '../thread/change-conversation.ts';
import { preferences } from '../thread/shown-thread.ts';
import { PromptForm } from './prompt-form.tsx';
import { listPrompts, type Prompt, removePrompt } from './prompt-library.ts';

export function PromptsDialog() {
  const [prompts, setPrompts] = useState<readonly Prompt[] | undefined>();
  const [wanted, setWanted] = useState('');
  const [edited, setEdited] = useState<Prompt | 'new' | undefined>();
  const [error, setError] = useState<unknown>();
  const load = async (): Promise<void> => setPrompts(await listPrompts());
  useEffect(() => void load().catch(setError), []);
  const close = (): void => {
    openDialog.value = undefined;
  };
  const insert = ({ content }: Prompt): void => {
    close();
    setDraft(draft.value === '' ? content : `${draft.value}\n${content}`);
    setTimeout(focusComposer);
  };
  const instruct = ({ content }: Prompt): void => {
    close();
    void keepPreferences({ ...preferences.value, system: content }).catch(setError);
  };
  const remove = async (prompt: Prompt): Promise<void> => {
    if (!(await confirmed(t('delete'), t('delete_named_detail', { title: prompt.title }), t('delete')))) return;
    await removePrompt(prompt);
    await load();
  };
  if (edited !== undefined) {
    const done = (): void => {
      setEdited(undefined);
      void load().catch(setError);
    };
    return <PromptForm prompt={edited === 'new' ? undefined : edited} onDone={done} />;
  }
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ title, content }: Prompt): boolean =>
    words.every((word) => `${title}\n${content}`.toLowerCase().includes(word));
  const mayChange = ({ shared }: Prompt): boolean => !shared || hasRole('developer');
  return (
    <Dialog title={t('prompts')} wide onClose={close}>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      <div class="row">
        <input
          class="input grow"
          type="search"
          dir={directionOf(wanted)}
          data-first
          placeholder={t('search')}
          aria-label={t('search_prompts')}
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
        <Button look="plain" icon="plus" onClick={() => setEdited('new')}>
          {t('prompt_new')}
        </Button>
      </div>
      {prompts?.length === 0 && <p class="quiet">{t('no_prompts')}</p>}
      <ul class="rows prompts">
        {prompts?.filter(fits).map((prompt) => (
          <li key={`${prompt.shared} ${prompt.id}`}>
            <div class="grow">
              <span class="row">
                <strong>{prompt.title}</strong>
                {prompt.shared && <Badge tone="accent">{t('prompt_shared')}</Badge>}
              </span>
              <span class="small quiet excerpt">{prompt.content}</span>
            </div>
            <Button look="plain" size="small" onClick={() => insert(prompt)}>
              {t('prompt_insert')}
            </Button>
            <Button size="small" onClick={() => instruct(prompt)}>
              {t('prompt_instruct')}
            </Button>
            {mayChange(prompt) && (
              <>
                <Button
                  size="small"
                  icon="edit"
                  label={t('edit_named', { title: prompt.title })}
                  onClick={() => setEdited(prompt)}
                />
                <Button
                  size="small"
                  icon="trash"
                  label={t('delete_named', { title: prompt.title })}
                  onClick={() => void remove(prompt).catch(setError)}
                />
              </>
            )}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
