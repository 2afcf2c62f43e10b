/** An artifact beside the conversation: drawn or run in the sandbox, as code, in versions; it can be kept and shared. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { copyText } from '../../design/clipboard.ts';
import { Tabs } from '../../design/tabs.tsx';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { artifactDocument } from '../../sandbox/artifact-document.ts';
import { mermaidDocument } from '../../sandbox/mermaid-document.ts';
import { openSandbox } from '../../sandbox/sandbox-frame.ts';
import { explain } from '../../session/explain.ts';
import { MarkdownText } from '../answers/markdown-text.tsx';
import { LinksDialog } from '../sharing/links-dialog.tsx';
import { downloadText } from '../sidebar/download.ts';
import { interceptLink } from '../thread/followed-link.ts';
import { closeArtifact, type ShownArtifact, shownArtifact } from './shown-artifact.ts';
import { type StoredArtifact, storeArtifact } from './stored-artifact.ts';

const EXTENSIONS: Readonly<Record<string, string>> = { html: 'html', svg: 'svg', markdown: 'md', mermaid: 'mmd', code: 'txt' };

export function ArtifactPanel({ artifact }: { artifact: ShownArtifact }) {
  const canRun = artifact.kind === 'mermaid' || artifactDocument(artifact.kind, artifact.language, '') !== undefined;
  const [view, setView] = useState<'preview' | 'code'>(canRun ? 'preview' : 'code');
  const [isBusy, setBusy] = useState(false);
  /** Its links are shown. */
  const [shared, setShared] = useState<StoredArtifact | undefined>();
  const panel = useRef<HTMLElement>(null);
  const { kind, language, versions, at } = artifact;
  const content = versions[at]?.content ?? '';
  const title = artifact.title === '' ? t('untitled') : artifact.title;
  useEffect(() => panel.current?.focus(), []);
  const keep = async (onKept: (kept: StoredArtifact) => void): Promise<void> => {
    setBusy(true);
    await storeArtifact(artifact).then(onKept, (error: unknown) => showToast(explain(error)));
    setBusy(false);
  };
  const show = (step: number): void => {
    shownArtifact.value = { ...artifact, at: at + step };
  };
  const extension = kind === 'code' && ['javascript', 'js'].includes(language) ? 'js' : EXTENSIONS[kind];
  return (
    <aside
      class="artifact-panel"
      aria-label={t('artifact_named', { title })}
      tabIndex={-1}
      ref={panel}
      onKeyDown={(event) => {
        // A window of its own closes by itself.
        if (event.key !== 'Escape' || shared !== undefined) return;
        event.preventDefault();
        closeArtifact();
      }}
    >
      <header class="row">
        <h2>{title}</h2>
        <Badge>{kind === 'code' ? language : kind}</Badge>
        <Button class="push" icon="close" label={t('close')} onClick={closeArtifact} />
      </header>
      <div class="row">
        {canRun && (
          <Tabs
            label={t('artifact_view')}
            tabs={[
              { id: 'preview', text: t('preview') },
              { id: 'code', text: t('code') },
            ]}
            chosen={view}
            onChoose={(id) => setView(id === 'code' ? 'code' : 'preview')}
          />
        )}
        <span class="branches push">
          <Button size="small" icon="left" label={t('version_before')} disabled={at === 0} onClick={() => show(-1)} />
          <span class="small">{t('version_of', { n: at + 1, count: versions.length })}</span>
          <Button
            size="small"
            icon="right"
            label={t('version_after')}
            disabled={at >= versions.length - 1}
            onClick={() => show(1)}
          />
        </span>
      </div>
      {view === 'preview' ? (
        <Preview key={content} artifact={artifact} content={content} title={title} />
      ) : (
        // biome-ignore lint/a11y/useKeyWithClickEvents: links are followed by Enter, which is a click
        // biome-ignore lint/a11y/noStaticElementInteractions: it listens for the links inside
        <div class="artifact-code" onClick={interceptLink} onAuxClick={interceptLink}>
          <MarkdownText
            text={kind === 'markdown' ? content : fenced(content, kind === 'code' ? language : kind)}
            citations={NONE}
          />
        </div>
      )}
      <div class="row">
        <Button size="small" icon="copy" onClick={() => copyText(content)}>
          {t('copy')}
        </Button>
        <Button size="small" icon="download" onClick={() => downloadText(`${title}.${extension}`, content)}>
          {t('download')}
        </Button>
        {!artifact.isForeign && (
          <>
            <Button size="small" icon="archive" busy={isBusy} onClick={() => void keep(() => showToast(t('artifact_kept')))}>
              {t('keep')}
            </Button>
            <Button size="small" icon="link" disabled={isBusy} onClick={() => void keep(setShared)}>
              {t('share')}
            </Button>
          </>
        )}
      </div>
      {shared !== undefined && <ArtifactShareDialog kept={shared} onClose={() => setShared(undefined)} />}
    </aside>
  );
}

const NONE: readonly never[] = [];

function Preview({ artifact: { kind, language }, content, title }: { artifact: ShownArtifact; content: string; title: string }) {
  const holder = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<unknown>();
  const isDark = getComputedStyle(document.documentElement).colorScheme === 'dark' || isSystemDark();
  useEffect(() => {
    const document =
      kind === 'mermaid' ? mermaidDocument(content, isDark) : Promise.resolve(artifactDocument(kind, language, content) ?? '');
    const frame = openSandbox(title, document);
    document.catch(setError);
    holder.current?.replaceChildren(frame.element);
    return frame.close;
  }, []);
  return (
    <div class="artifact-view" ref={holder}>
      {error !== undefined && <p>{explain(error)}</p>}
    </div>
  );
}

function isSystemDark(): boolean {
  return document.documentElement.dataset['theme'] === undefined && matchMedia('(prefers-color-scheme: dark)').matches;
}

/** The fence makes it a block of code, whatever it holds. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Links to versions of an artifact that is kept. */
function ArtifactShareDialog({ kept: { id, version }, onClose }: { kept: StoredArtifact; onClose(): void }) {
  return (
    <LinksDialog
      detail={t('artifact_share_detail')}
      list={async () => (await call('GET /api/v1/artifacts/{id}', { params: { id } })).shares}
      make={() => call('POST /api/v1/artifacts/share/', { body: { id, version } })}
      end={(share) => call('DELETE /api/v1/artifacts/share/{share}', { params: { share } })}
      onClose={onClose}
    />
  );
}
