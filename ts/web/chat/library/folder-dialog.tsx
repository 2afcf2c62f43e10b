/** Chooses the folder of a conversation, or names a folder anew. */
import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/text-field.tsx';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { type FolderTask, folderDialog } from '../dialogs.ts';
import { folders, moveConversation, renameFolder } from './folders.ts';

export function FolderDialog({ task }: { task: FolderTask }) {
  const [name, setName] = useState('rename' in task ? task.rename : '');
  const close = (): void => {
    folderDialog.value = undefined;
  };
  const put = (folder: string | null): void => {
    close();
    const work = 'rename' in task ? renameFolder(task.rename, folder) : moveConversation(task.move.id, folder);
    work.catch((error: unknown) => showToast(explain(error)));
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (name.trim() !== '') put(name.trim());
  };
  const listed = 'move' in task ? folders.value : [];
  return (
    <Dialog title={'rename' in task ? t('folder_rename') : t('folder_move')} onClose={close}>
      {listed.length > 0 && (
        <div class="choices">
          {listed.map(({ folder }) => (
            <Button key={folder} icon="folder" class="choice" onClick={() => put(folder)}>
              {folder}
            </Button>
          ))}
        </div>
      )}
      {'move' in task && task.move.folder !== null && (
        <Button icon="close" class="choice" onClick={() => put(null)}>
          {t('folder_none')}
        </Button>
      )}
      <form class="stack" onSubmit={submit}>
        <TextField
          label={'rename' in task ? t('name') : t('folder_new')}
          value={name}
          maxLength={200}
          required
          onInput={setName}
        />
        <div class="buttons">
          <Button look="plain" onClick={close}>
            {t('cancel')}
          </Button>
          <Button look="main" type="submit">
            {t('save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
