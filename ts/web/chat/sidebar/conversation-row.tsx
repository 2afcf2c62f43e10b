/** One conversation of the list, with what can be done to it. */
import { useState } from 'preact/hooks';
import { confirmed } from '../../design/confirm.tsx';
import { directionOf } from '../../design/direction.ts';
import { Icon } from '../../design/icon.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { folderDialog, isSidebarOpen, shareDialog } from '../dialogs.ts';
import { loadFolders } from '../library/folders.ts';
import { navigateTo } from '../location.ts';
import type { Conversation } from '../thread/message.ts';
import { conversation as openConversation } from '../thread/shown-thread.ts';
import { changeConversation, eraseConversation } from './conversation-list.ts';
import { downloadConversations } from './download.ts';

const said = (error: unknown): void => showToast(explain(error));

export function ConversationRow({ conversation }: { conversation: Conversation }) {
  const [isRenaming, setRenaming] = useState(false);
  const { id, pinned, archived } = conversation;
  const title = conversation.title === '' ? t('untitled') : conversation.title;
  const isOpen = openConversation.value?.id === id;
  const erase = async (): Promise<void> => {
    if (!(await confirmed(t('delete_conversation'), t('delete_conversation_detail', { title }), t('delete')))) return;
    await eraseConversation(id);
    if (isOpen) navigateTo(undefined);
    if (conversation.folder !== null) await loadFolders();
  };
  const archive = async (): Promise<void> => {
    await changeConversation(id, { archived: !archived });
    await loadFolders();
  };
  const items: MenuItem[] = [
    { text: t('rename'), icon: 'edit', run: () => setRenaming(true) },
    {
      text: pinned ? t('unpin') : t('pin'),
      icon: 'pin',
      run: () => void changeConversation(id, { pinned: !pinned }).catch(said),
    },
    { text: t('folder_move'), icon: 'folder', run: () => (folderDialog.value = { move: conversation }) },
    { text: t('share'), icon: 'link', run: () => (shareDialog.value = conversation) },
    { text: archived ? t('unarchive') : t('archive'), icon: 'archive', run: () => void archive().catch(said) },
    { text: t('export_markdown'), icon: 'download', isApart: true, run: () => downloadConversations('markdown', id) },
    { text: t('export_json'), icon: 'download', run: () => downloadConversations('json', id) },
    { text: t('delete'), icon: 'trash', isApart: true, isDangerous: true, run: () => void erase().catch(said) },
  ];
  if (isRenaming) return <Renaming conversation={conversation} onDone={() => setRenaming(false)} />;
  return (
    <li class={isOpen ? 'conversation open' : 'conversation'}>
      <a
        href={`#c=${id}`}
        aria-current={isOpen ? 'page' : undefined}
        onClick={(event) => {
          event.preventDefault();
          isSidebarOpen.value = false;
          navigateTo(id);
        }}
      >
        {pinned && <Icon name="pin" />}
        <span>{title}</span>
      </a>
      <Menu items={items} icon="more" size="small" label={t('actions_of', { name: title })} />
    </li>
  );
}

function Renaming({ conversation, onDone }: { conversation: Conversation; onDone(): void }) {
  const [title, setTitle] = useState(conversation.title);
  const save = (): void => {
    onDone();
    if (title.trim() === '' || title === conversation.title) return;
    changeConversation(conversation.id, { title: title.trim() })
      .then((changed) => {
        if (openConversation.value?.id === changed.id) openConversation.value = changed;
      })
      .catch(said);
  };
  return (
    <li class="conversation">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <input
          class="input"
          dir={directionOf(title)}
          aria-label={t('rename')}
          maxLength={500}
          value={title}
          ref={(element) => element?.focus()}
          onInput={(event) => setTitle(event.currentTarget.value)}
          onBlur={save}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.preventDefault();
            onDone();
          }}
        />
      </form>
    </li>
  );
}
