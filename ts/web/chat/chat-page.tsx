import { useEffect } from 'preact/hooks';
import { Badge } from '../design/badge.tsx';
import { Button } from '../design/button.tsx';
import { lazy } from '../design/lazy.tsx';
import { t } from '../i18n/language.ts';
import { productName } from '../session/branding.ts';
import { Announcer } from './answers/announcer.tsx';
import { shownArtifact } from './artifacts/shown-artifact.ts';
import { Composer } from './composer/composer.tsx';
import { focusComposer } from './composer/composer-focus.ts';
import { folderDialog, isSidebarOpen, keptFile, linkAddress, openDialog, shareDialog } from './dialogs.ts';
import { isDropping } from './files/take-files.ts';
import { navigateTo, writeAddress } from './location.ts';
import { shownCitation } from './markdown/citation-choice.ts';
import { SharedBar } from './sharing/shared-bar.tsx';
import { importResult } from './sidebar/import-conversations.ts';
import { Sidebar } from './sidebar/sidebar.tsx';
import { ReadingBar } from './speech/reading-bar.tsx';
import { conversation, isTemporary, shared } from './thread/shown-thread.ts';
import { ThreadView } from './thread/thread-view.tsx';

const CitationPanel = lazy(async () => (await import('./answers/citation-panel.tsx')).CitationPanel);
const LeaveDialog = lazy(async () => (await import('./thread/leave-dialog.tsx')).LeaveDialog);
const Palette = lazy(async () => (await import('./keyboard/palette.tsx')).Palette);
const ShortcutsDialog = lazy(async () => (await import('./keyboard/shortcuts-dialog.tsx')).ShortcutsDialog);
const PreferencesDialog = lazy(async () => (await import('./composer/preferences-dialog.tsx')).PreferencesDialog);
const KnowledgeDialog = lazy(async () => (await import('./knowledge/knowledge-dialog.tsx')).KnowledgeDialog);
const MemoryDialog = lazy(async () => (await import('./memory/memory-dialog.tsx')).MemoryDialog);
const PromptsDialog = lazy(async () => (await import('./prompts/prompts-dialog.tsx')).PromptsDialog);
const ArtifactsDialog = lazy(async () => (await import('./artifacts/artifacts-dialog.tsx')).ArtifactsDialog);
const GoalsDialog = lazy(async () => (await import('./goals/goals-dialog.tsx')).GoalsDialog);
const ArtifactPanel = lazy(async () => (await import('./artifacts/artifact-panel.tsx')).ArtifactPanel);
const FolderDialog = lazy(async () => (await import('./library/folder-dialog.tsx')).FolderDialog);
const ImportDialog = lazy(async () => (await import('./sidebar/import-dialog.tsx')).ImportDialog);
const ShareDialog = lazy(async () => (await import('./sharing/share-dialog.tsx')).ShareDialog);

const KeepDialog = lazy(async () => (await import('./files/keep-dialog.tsx')).KeepDialog);

export function ChatPage() {
  const open = conversation.value;
  const foreign = shared.value;
  const artifact = shownArtifact.value;
  const named = open ?? foreign;
  const title = named === undefined ? t('new_chat') : named.title === '' ? t('untitled') : named.title;
  const product = productName();
  useEffect(() => {
    document.title = `${title} · ${product}`;
    if (open !== undefined) writeAddress(open.id);
  }, [open?.id, title, product]);
  return (
    <div class={artifact === undefined ? 'chat' : 'chat with-artifact'}>
      <button type="button" class="skip" onClick={focusComposer}>
        {t('go_to_message')}
      </button>
      <Sidebar />
      <main>
        <header class="chat-head">
          <Button
            class="only-narrow"
            icon="menu"
            label={t('toggle_sidebar')}
            aria-expanded={isSidebarOpen.value}
            onClick={() => (isSidebarOpen.value = !isSidebarOpen.value)}
          />
          <h1 class={named === undefined ? 'unseen' : ''}>{title}</h1>
          {foreign !== undefined && <Badge tone="accent">{t('shared_badge')}</Badge>}
          {isTemporary.value && <Badge tone="accent">{t('temporary')}</Badge>}
          {open !== undefined && !open.temporary && (
            <Button class="push" icon="link" label={t('share')} onClick={() => (shareDialog.value = open)} />
          )}
          <Button
            class={open === undefined ? 'push' : ''}
            icon="search"
            label={t('palette')}
            onClick={() => (openDialog.value = 'palette')}
          />
          <Button class="only-narrow" icon="plus" label={t('new_chat')} onClick={() => navigateTo(undefined)} />
        </header>
        <ThreadView />
        <div class="measure foot">
          <ReadingBar />
          {foreign === undefined ? <Composer /> : <SharedBar thread={foreign} />}
          <p class="advice">{t('check_answers')}</p>
        </div>
        {isDropping.value && <div class="drop-veil">{t('drop_files')}</div>}
      </main>
      {artifact !== undefined && <ArtifactPanel key={artifact.opening} artifact={artifact} />}
      <Announcer />
      {openDialog.value === 'palette' && <Palette />}
      {openDialog.value === 'shortcuts' && <ShortcutsDialog />}
      {openDialog.value === 'preferences' && <PreferencesDialog />}
      {openDialog.value === 'knowledge' && <KnowledgeDialog />}
      {openDialog.value === 'memory' && <MemoryDialog />}
      {openDialog.value === 'prompts' && <PromptsDialog />}
      {openDialog.value === 'artifacts' && <ArtifactsDialog />}
      {openDialog.value === 'goals' && <GoalsDialog />}
      {folderDialog.value !== undefined && <FolderDialog task={folderDialog.value} />}
      {importResult.value !== undefined && <ImportDialog result={importResult.value} />}
      {shareDialog.value !== undefined && <ShareDialog conversation={shareDialog.value} />}
      {keptFile.value !== undefined && <KeepDialog file={keptFile.value} />}
      {linkAddress.value !== undefined && <LeaveDialog />}
      {shownCitation.value !== undefined && <CitationPanel />}
    </div>
  );
}
