/** Conversations by age, the search, and the account. */
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { directionOf } from '../../design/direction.ts';
import type { MenuItem } from '../../design/menu.tsx';
import { showToast } from '../../design/toasts.tsx';
import { daysAgo } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { AccountMenu } from '../../session/account-menu.tsx';
import { Brand } from '../../session/brand.tsx';
import { explain } from '../../session/explain.ts';
import { isSidebarOpen, openDialog } from '../dialogs.ts';
import { FolderSection } from '../library/folder-section.tsx';
import { folders, loadFolders } from '../library/folders.ts';
import { navigateTo } from '../location.ts';
import type { Conversation } from '../thread/message.ts';
import { conversations, eraseAll, hasMore, isArchiveShown, loadMore, showArchive } from './conversation-list.ts';
import { ConversationRow } from './conversation-row.tsx';
import { downloadConversations } from './download.ts';
import { importConversations } from './import-conversations.ts';
import { type Hit, hits, search, searchText } from './search.ts';

export function Sidebar() {
  return (
    <>
      <div
        class="scrim"
        hidden={!isSidebarOpen.value}
        onPointerDown={() => {
          isSidebarOpen.value = false;
        }}
      />
      <nav class={isSidebarOpen.value ? 'sidebar open' : 'sidebar'} aria-label={t('conversations')} onKeyDown={closeOnEscape}>
        <div class="row">
          <Brand />
          <Button class="push" icon="plus" label={t('new_chat')} onClick={beginChat} />
        </div>
        <input
          id="conversation-search"
          class="input"
          type="search"
          dir={directionOf(searchText.value)}
          placeholder={t('search')}
          aria-label={t('search_conversations')}
          value={searchText.value}
          maxLength={200}
          onInput={(event) => search(event.currentTarget.value)}
        />
        <div class="conversations">{hits.value === undefined ? <Listed /> : <Found hits={hits.value} />}</div>
        <AccountMenu items={accountItems()} />
      </nav>
    </>
  );
}

function closeOnEscape(event: KeyboardEvent): void {
  if (event.key !== 'Escape' || !isSidebarOpen.value) return;
  event.preventDefault();
  isSidebarOpen.value = false;
}

function beginChat(): void {
  isSidebarOpen.value = false;
  navigateTo(undefined);
}

function accountItems(): MenuItem[] {
  return [
    { text: t('knowledge'), icon: 'book', run: () => (openDialog.value = 'knowledge') },
    { text: t('memories'), icon: 'pin', run: () => (openDialog.value = 'memory') },
    { text: t('prompts'), icon: 'list', run: () => (openDialog.value = 'prompts') },
    { text: t('artifacts'), icon: 'cube', run: () => (openDialog.value = 'artifacts') },
    { text: t('goals'), icon: 'check', run: () => (openDialog.value = 'goals') },
    {
      text: isArchiveShown.value ? t('archive_leave') : t('archived'),
      icon: 'archive',
      run: () => void showArchive(!isArchiveShown.value).catch((error: unknown) => showToast(explain(error))),
    },
    { text: t('shortcuts'), icon: 'info', isApart: true, run: () => (openDialog.value = 'shortcuts') },
    { text: t('import'), icon: 'upload', run: importConversations },
    { text: t('export_all'), icon: 'download', run: () => downloadConversations('json') },
    { text: t('delete_all'), icon: 'trash', isDangerous: true, run: () => void deleteAll() },
  ];
}

async function deleteAll(): Promise<void> {
  if (!(await confirmed(t('delete_all'), t('delete_all_detail'), t('delete_all')))) return;
  try {
    const count = await eraseAll();
    await loadFolders();
    navigateTo(undefined);
    showToast(t('deleted_count', { count }));
  } catch (error) {
    showToast(explain(error));
  }
}

function Listed() {
  const isArchive = isArchiveShown.value;
  const shownFolders = isArchive ? [] : folders.value;
  const inFolder = new Set(shownFolders.map(({ folder }) => folder));
  const groups = groupByAge(conversations.value.filter(({ folder, pinned }) => pinned || !inFolder.has(folder ?? '')));
  return (
    <>
      {isArchive && (
        <Button icon="left" onClick={() => void showArchive(false)}>
          {t('archive_leave')}
        </Button>
      )}
      {shownFolders.map((folder) => (
        <FolderSection
          key={folder.folder}
          folder={folder}
          rows={conversations.value.filter((each) => each.folder === folder.folder)}
        />
      ))}
      {groups.length === 0 && shownFolders.length === 0 && (
        <p class="quiet small none">{isArchive ? t('no_archived') : t('no_conversations')}</p>
      )}
      {groups.map(([title, rows]) => (
        <section key={title} aria-label={title}>
          <h2>{title}</h2>
          <ul>
            {rows.map((conversation) => (
              <ConversationRow key={conversation.id} conversation={conversation} />
            ))}
          </ul>
        </section>
      ))}
      {hasMore.value && <Button onClick={() => void loadMore()}>{t('more')}</Button>}
    </>
  );
}

function groupByAge(rows: readonly Conversation[]): [title: string, rows: Conversation[]][] {
  const groups = new Map<string, Conversation[]>();
  const pinnedFirst = [...rows].sort((a, b) => Number(b.pinned) - Number(a.pinned));
  for (const row of pinnedFirst) {
    const title = row.pinned ? t('pinned') : ageOf(row.updated_at);
    groups.set(title, [...(groups.get(title) ?? []), row]);
  }
  return [...groups];
}

function ageOf(iso: string): string {
  const days = daysAgo(iso);
  if (days <= 0) return t('today');
  if (days === 1) return t('yesterday');
  return days <= 7 ? t('last_week') : t('older');
}

function Found({ hits: found }: { hits: readonly Hit[] }) {
  return (
    <section aria-label={t('found')}>
      <h2 aria-live="polite">{t('found_count', { count: found.length })}</h2>
      <ul>
        {found.map((hit) => (
          <li class="conversation hit" key={`${hit.conversation_id} ${hit.message_id}`}>
            <a
              href={`#c=${hit.conversation_id}`}
              onClick={(event) => {
                event.preventDefault();
                isSidebarOpen.value = false;
                navigateTo(hit.conversation_id, hit.message_id ?? undefined);
              }}
            >
              <span>{hit.title === '' ? t('untitled') : hit.title}</span>
              <span class="snippet">
                <MarkedText text={hit.snippet} matches={hit.matches} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface MarkedTextProps {
  text: string;
  matches: readonly { start: number; end: number }[];
}

/** A snippet with the words that were searched for. Places come from the server and are checked, since they cut text. */
function MarkedText({ text, matches }: MarkedTextProps) {
  const parts = [];
  let at = 0;
  for (const { start, end } of matches) {
    if (start < at || end <= start || end > text.length) continue;
    parts.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>);
    at = end;
  }
  return (
    <>
      {parts}
      {text.slice(at)}
    </>
  );
}
