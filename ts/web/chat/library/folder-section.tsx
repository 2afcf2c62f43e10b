/** A folder of the sidebar, closed until the reader opens it. */
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../design/icon.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { folderDialog } from '../dialogs.ts';
import { loadFolder } from '../sidebar/conversation-list.ts';
import { ConversationRow } from '../sidebar/conversation-row.tsx';
import type { Conversation } from '../thread/message.ts';
import { conversation as openConversation } from '../thread/shown-thread.ts';
import { type Folder, renameFolder } from './folders.ts';

const said = (error: unknown): void => showToast(explain(error));

export function FolderSection({ folder: { folder, conversations }, rows }: { folder: Folder; rows: readonly Conversation[] }) {
  const [isOpen, setOpen] = useState(openConversation.value?.folder === folder);
  useEffect(() => {
    if (isOpen) loadFolder(folder).catch(said);
  }, [isOpen, folder]);
  const items: MenuItem[] = [
    { text: t('rename'), icon: 'edit', run: () => (folderDialog.value = { rename: folder }) },
    { text: t('folder_dissolve'), icon: 'close', run: () => void renameFolder(folder, null).catch(said) },
  ];
  return (
    <section class="folder" aria-label={folder}>
      <div class="conversation">
        <button type="button" class="folder-name" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name={isOpen ? 'down' : 'right'} />
          <Icon name="folder" />
          <span>{folder}</span>
          <span class="quiet small">{conversations}</span>
        </button>
        <Menu items={items} icon="more" size="small" label={t('actions_of', { name: folder })} />
      </div>
      {isOpen && (
        <ul>
          {rows.map((row) => (
            <ConversationRow key={row.id} conversation={row} />
          ))}
        </ul>
      )}
    </section>
  );
}
