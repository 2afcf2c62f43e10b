/** The knowledge base that a file of a conversation goes into as well. */
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Notice } from '../../design/notice.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { type KeptFile, keptFile } from '../dialogs.ts';
import { bases, defaultBase, loadBases } from '../knowledge/bases.ts';
import { keepFile } from './conversation-files.ts';

export function KeepDialog({ file: { name, conversationId, fileId } }: { file: KeptFile }) {
  const [chosen, setChosen] = useState<string | undefined>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    loadBases().catch(setError);
  }, []);
  const names = [...new Set([...(bases.value ?? []).map(({ namespace }) => namespace), defaultBase()])];
  const namespace = chosen ?? names[0] ?? '';
  const close = (): void => {
    keptFile.value = undefined;
  };
  const keep = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await keepFile(conversationId, fileId, namespace);
      await loadBases();
      showToast(t('file_kept', { name, base: namespace }));
      close();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={t('keep_file', { name })} onClose={close}>
      <form class="stack" onSubmit={(event) => void keep(event)}>
        {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
        <p class="small quiet">{t('keep_file_detail')}</p>
        <SelectField
          label={t('knowledge_base')}
          value={namespace}
          options={names.map((each) => ({ value: each, text: each }))}
          onChange={setChosen}
        />
        <div class="buttons">
          <Button look="plain" onClick={close}>
            {t('cancel')}
          </Button>
          <Button look="main" type="submit" busy={isBusy}>
            {t('keep')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
