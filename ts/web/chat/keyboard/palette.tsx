/** Everything that can be done, and every conversation, by typing a part of its name. */
import { useEffect, useState } from 'preact/hooks';
import { Dialog } from '../../design/dialog.tsx';
import { directionOf } from '../../design/direction.ts';
import { Icon, type IconName } from '../../design/icon.tsx';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { chatModels } from '../composer/models.ts';
import { openDialog, shareDialog } from '../dialogs.ts';
import { chooseFiles } from '../files/take-files.ts';
import { navigateTo } from '../location.ts';
import { conversations, isArchiveShown, showArchive } from '../sidebar/conversation-list.ts';
import { downloadConversations } from '../sidebar/download.ts';
import { importConversations } from '../sidebar/import-conversations.ts';
import { hits, search } from '../sidebar/search.ts';
import { keepModel } from '../thread/change-conversation.ts';
import { conversation } from '../thread/shown-thread.ts';
import { SHORTCUTS } from './shortcuts.ts';

interface Command {
  id: string;
  text: string;
  icon: IconName;
  keys?: readonly string[];
  run(): void;
}

const MAX_SHOWN = 12;
const said = (error: unknown): void => showToast(explain(error));

export function Palette() {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  useEffect(() => () => search(''), []);
  const found = commands(text);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    openDialog.value = undefined;
    command.run();
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') run(found[at]);
    else if (step !== undefined && found.length > 0) setAt((at + step + found.length) % found.length);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={t('palette')} onClose={() => (openDialog.value = undefined)}>
      <input
        class="input"
        dir={directionOf(text)}
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[at] === undefined ? undefined : `palette-${at}`}
        aria-label={t('palette')}
        placeholder={t('palette_hint')}
        data-first
        value={text}
        onKeyDown={onKey}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
          search(event.currentTarget.value);
        }}
      />
      <div id="palette-list" class="palette" role="listbox" aria-label={t('palette')} tabIndex={-1}>
        {found.map((command, index) => (
          <button
            key={command.id}
            id={`palette-${index}`}
            type="button"
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onPointerMove={() => setAt(index)}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            <span>{command.text}</span>
            {command.keys?.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </button>
        ))}
      </div>
    </Dialog>
  );
}

function commands(text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (command: Command): boolean => words.every((word) => command.text.toLowerCase().includes(word));
  const listed = [...actions(), ...chats()].filter(fits);
  const known = new Set(listed.map(({ id }) => id));
  return [...listed, ...foundChats().filter(({ id }) => !known.has(id))].slice(0, MAX_SHOWN);
}

function actions(): Command[] {
  return [
    ...SHORTCUTS.filter(({ text }) => text !== 'palette' && text !== 'stop').map(
      ({ text, keys, run }): Command => ({ id: text, text: t(text), icon: 'right', keys, run }),
    ),
    { id: 'knowledge', text: t('knowledge'), icon: 'book', run: () => (openDialog.value = 'knowledge') },
    { id: 'memory', text: t('memories'), icon: 'pin', run: () => (openDialog.value = 'memory') },
    { id: 'prompts', text: t('prompts'), icon: 'list', run: () => (openDialog.value = 'prompts') },
    { id: 'artifacts', text: t('artifacts'), icon: 'cube', run: () => (openDialog.value = 'artifacts') },
    { id: 'goals', text: t('goals'), icon: 'check', run: () => (openDialog.value = 'goals') },
    { id: 'attach', text: t('attach_files'), icon: 'attach', run: chooseFiles },
    {
      id: 'archive',
      text: isArchiveShown.value ? t('archive_leave') : t('archived'),
      icon: 'archive',
      run: () => void showArchive(!isArchiveShown.value),
    },
    ...shareCommand(),
    { id: 'import', text: t('import'), icon: 'upload', run: importConversations },
    { id: 'export', text: t('export_all'), icon: 'download', run: () => downloadConversations('json') },
    ...chatModels.value.map(
      ({ id }): Command => ({
        id: `m ${id}`,
        text: t('use_model', { id }),
        icon: 'cube',
        run: () => void keepModel(id).catch(said),
      }),
    ),
  ];
}

function shareCommand(): Command[] {
  const open = conversation.value;
  // A temporary one cannot be shared.
  if (open === undefined || open.temporary) return [];
  return [{ id: 'share', text: t('share'), icon: 'link', run: () => (shareDialog.value = open) }];
}

function chats(): Command[] {
  return conversations.value.map(({ id, title }) => ({
    id,
    text: title === '' ? t('untitled') : title,
    icon: 'chat',
    run: () => navigateTo(id),
  }));
}

function foundChats(): Command[] {
  return (hits.value ?? []).map((hit) => ({
    id: hit.conversation_id,
    text: hit.title === '' ? hit.snippet : hit.title,
    icon: 'search',
    run: () => navigateTo(hit.conversation_id, hit.message_id ?? undefined),
  }));
}
