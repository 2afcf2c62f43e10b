/** One's memories: found, added, corrected, pinned, forgotten, exported; the last dream with its undo. */
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { directionOf } from '../../design/direction.ts';
import { Notice } from '../../design/notice.tsx';
import { Switch } from '../../design/switch.tsx';
import { showToast } from '../../design/toasts.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { hasRole } from '../../session/session.ts';
import { openDialog } from '../dialogs.ts';
import {
  type Dream,
  exportMemories,
  findMemories,
  lastDream,
  MAX_TEXT,
  type Memory,
  type MemorySettings,
  remember,
} from './memories.ts';

export function MemoryDialog() {
  const [memories, setMemories] = useState<readonly Memory[] | undefined>();
  const [words, setWords] = useState('');
  const [added, setAdded] = useState('');
  const [error, setError] = useState<unknown>();
  const [dream, setDream] = useState<Dream | undefined>();
  const [settings, setSettings] = useState<MemorySettings | undefined>();
  const load = async (wanted = words): Promise<void> => setMemories(await findMemories(wanted));
  useEffect(() => {
    void load('').catch(setError);
    lastDream().then(setDream, setError);
    call('GET /api/v1/memory/settings').then(setSettings, setError);
  }, []);
  const act = (work: () => Promise<unknown>): void => {
    setError(undefined);
    void work()
      .then(() => load())
      .catch(setError);
  };
  const add = (event: Event): void => {
    event.preventDefault();
    act(async () => {
      await remember({ text: added });
      setAdded('');
    });
  };
  const search = (event: Event): void => {
    event.preventDefault();
    act(async () => undefined);
  };
  const change = (changed: MemorySettings): void => {
    setSettings(changed);
    act(() => call('PUT /api/v1/memory/settings', { body: changed }));
  };
  return (
    <Dialog title={t('memories')} wide onClose={() => (openDialog.value = undefined)}>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      {settings !== undefined && (
        <>
          <Switch
            label={t('memory_recall')}
            checked={settings.recall === 'on'}
            onChange={(isOn) => change({ ...settings, recall: isOn ? 'on' : 'off' })}
          />
          <Switch
            label={t('memory_extract')}
            checked={settings.extract === 'on'}
            onChange={(isOn) => change({ ...settings, extract: isOn ? 'on' : 'off' })}
          />
        </>
      )}
      <form class="row" onSubmit={search}>
        <input
          class="input grow"
          type="search"
          dir={directionOf(words)}
          data-first
          placeholder={t('search')}
          aria-label={t('memory_search')}
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <Button look="plain" icon="search" type="submit">
          {t('search')}
        </Button>
        <Button look="plain" icon="download" onClick={() => act(exportMemories)}>
          {t('memory_export')}
        </Button>
      </form>
      <form class="row" onSubmit={add}>
        <input
          class="input grow"
          dir={directionOf(added)}
          aria-label={t('memory_new')}
          placeholder={t('memory_new')}
          maxLength={MAX_TEXT}
          value={added}
          onInput={(event) => setAdded(event.currentTarget.value)}
        />
        <Button look="plain" icon="plus" type="submit" disabled={added.trim() === ''}>
          {t('memory_add')}
        </Button>
      </form>
      {memories?.length === 0 && <p class="quiet">{t('no_memories')}</p>}
      <ul class="rows">
        {memories?.map((memory) => (
          <MemoryRow key={`${memory.id} ${memory.text}`} memory={memory} act={act} />
        ))}
      </ul>
      {dream !== undefined && <LastDream dream={dream} act={act} onUndone={() => setDream(undefined)} />}
    </Dialog>
  );
}

type Act = (work: () => Promise<unknown>) => void;

function MemoryRow({ memory, act }: { memory: Memory; act: Act }) {
  const { id, text, owner, pinned, origins } = memory;
  const [draft, setDraft] = useState<string | undefined>();
  const change = (body: { text?: string; pinned?: boolean }): void =>
    act(() => call('PATCH /api/v1/memory/memories/{id}', { params: { id }, body }));
  const forget = async (): Promise<void> => {
    if (!(await confirmed(t('forget'), t('forget_detail', { text }), t('forget')))) return;
    act(() => call('DELETE /api/v1/memory/memories/{id}', { params: { id } }));
  };
  if (draft !== undefined) {
    const save = (event: Event): void => {
      event.preventDefault();
      setDraft(undefined);
      change({ text: draft });
    };
    return (
      <li>
        <form class="row grow" onSubmit={save}>
          <input
            class="input grow"
            dir={directionOf(draft)}
            aria-label={t('edit_named', { title: text })}
            maxLength={MAX_TEXT}
            value={draft}
            ref={(element) => element?.focus()}
            onInput={(event) => setDraft(event.currentTarget.value)}
          />
          <Button onClick={() => setDraft(undefined)}>{t('cancel')}</Button>
          <Button look="main" type="submit" disabled={draft.trim() === ''}>
            {t('save')}
          </Button>
        </form>
      </li>
    );
  }
  const isOwn = owner === 'me' || hasRole('admin');
  const saidAt = origins.at(-1)?.at;
  return (
    <li>
      <div class="grow">
        <span class="row">
          <span class="breakable" dir={directionOf(text)}>
            {text}
          </span>
          {owner === 'tenant' && <Badge tone="accent">{t('memory_of_all')}</Badge>}
        </span>
        <span class="small quiet">
          {t(`memory_from_${origins.at(-1)?.type ?? 'api'}`)} {saidAt !== undefined && formatTime(saidAt)}
        </span>
      </div>
      {isOwn && (
        <>
          <Button
            size="small"
            icon="pin"
            label={t(pinned ? 'unpin_named' : 'pin_named', { title: text })}
            aria-pressed={pinned}
            onClick={() => change({ pinned: !pinned })}
          />
          <Button size="small" icon="edit" label={t('edit_named', { title: text })} onClick={() => setDraft(text)} />
          <Button size="small" icon="trash" label={t('forget_named', { title: text })} onClick={() => void forget()} />
        </>
      )}
    </li>
  );
}

/** How much the last dream changed, until it is undone. */
function LastDream({ dream, act, onUndone }: { dream: Dream; act: Act; onUndone(): void }) {
  const count = Object.values(dream.report?.changed ?? {}).reduce((sum, n) => sum + n, 0);
  if (count === 0) return null;
  const undo = async (): Promise<void> => {
    const { undone } = await call('POST /api/v1/memory/dreams/{id}/undo', { params: { id: dream.id }, body: {} });
    showToast(t('dream_undone', { count: undone.length }));
    onUndone();
  };
  return (
    <div class="row">
      <span class="quiet grow">{t('dream_changed', { count, time: formatTime(dream.began_at) })}</span>
      <Button look="plain" size="small" onClick={() => act(undo)}>
        {t('undo')}
      </Button>
    </div>
  );
}
