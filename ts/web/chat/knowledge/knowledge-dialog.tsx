/** Knowledge bases: which ones answer the conversation, what stands in them, new ones, and files for them. */
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Notice } from '../../design/notice.tsx';
import { Switch } from '../../design/switch.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { keepOwnKnowledge, usesOwnKnowledge } from '../../session/account-settings.ts';
import { explain } from '../../session/explain.ts';
import { hasRole } from '../../session/session.ts';
import { openDialog } from '../dialogs.ts';
import { keepPreferences } from '../thread/change-conversation.ts';
import { preferences } from '../thread/shown-thread.ts';
import { BaseDocuments } from './base-documents.tsx';
import { BaseRow } from './base-row.tsx';
import { bases, loadBases, makeBase } from './bases.ts';

export function KnowledgeDialog() {
  const [opened, setOpened] = useState<string | undefined>();
  const [name, setName] = useState('');
  const [note, setNote] = useState<string | undefined>();
  const [error, setError] = useState<unknown>();
  useEffect(() => void loadBases().catch(setError), []);
  const close = (): void => {
    openDialog.value = undefined;
  };
  const chosen = preferences.value.knowledge;
  const choose = (namespace: string, isChosen: boolean): void => {
    const others = chosen.filter((each) => each !== namespace);
    keepPreferences({ ...preferences.value, knowledge: isChosen ? [...others, namespace] : others }).catch(setError);
  };
  const make = async (event: Event): Promise<void> => {
    event.preventDefault();
    setError(undefined);
    setNote(await makeBase(name.trim()));
    setName('');
    setOpened(name.trim());
  };
  if (opened !== undefined) return <BaseDocuments namespace={opened} note={note} onBack={() => setOpened(undefined)} />;
  return (
    <Dialog title={t('knowledge')} wide onClose={close}>
      <p class="small quiet">{t('knowledge_detail')}</p>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      {bases.value?.length === 0 && <p class="quiet">{t('no_knowledge')}</p>}
      <ul class="rows">
        {bases.value?.map((base) => (
          <BaseRow
            key={base.namespace}
            base={base}
            isChosen={chosen.includes(base.namespace)}
            onChoose={(isChosen) => choose(base.namespace, isChosen)}
            onOpen={() => setOpened(base.namespace)}
            onFailure={setError}
          />
        ))}
      </ul>
      <div>
        <Switch
          label={t('own_knowledge')}
          checked={usesOwnKnowledge.value}
          onChange={(isUsed) => void keepOwnKnowledge(isUsed).catch(setError)}
        />
        <p class="small quiet">{t('own_knowledge_detail')}</p>
      </div>
      {hasRole('developer') && (
        <form class="row end" onSubmit={(event) => void make(event).catch(setError)}>
          <div class="grow">
            <TextField label={t('knowledge_new')} value={name} maxLength={128} required onInput={setName} />
          </div>
          <Button look="plain" type="submit" icon="plus" disabled={name.trim() === ''}>
            {t('create')}
          </Button>
        </form>
      )}
    </Dialog>
  );
}
