/** Artifacts that the caller keeps. */
import { useEffect, useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Empty } from '../../design/empty.tsx';
import { Notice } from '../../design/notice.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { openDialog } from '../dialogs.ts';
import { openStoredArtifact } from './shown-artifact.ts';

type Artifact = Answer<'GET /api/v1/artifacts'>['data'][number];

export function ArtifactsDialog() {
  const [artifacts, setArtifacts] = useState<readonly Artifact[] | undefined>();
  const [next, setNext] = useState<string | undefined>();
  const [error, setError] = useState<unknown>();
  const load = async (after?: string): Promise<void> => {
    const page = await call('GET /api/v1/artifacts', { query: { limit: 50, after } });
    setArtifacts((known = []) => (after === undefined ? page.data : [...known, ...page.data]));
    setNext(page.next);
  };
  useEffect(() => void load().catch(setError), []);
  const open = async (id: string): Promise<void> => {
    await openStoredArtifact(id);
    openDialog.value = undefined;
  };
  const erase = async ({ id, title }: Artifact): Promise<void> => {
    if (!(await confirmed(t('delete'), t('delete_named_detail', { title }), t('delete')))) return;
    await call('DELETE /api/v1/artifacts/{id}', { params: { id } });
    await load();
  };
  return (
    <Dialog title={t('artifacts')} wide onClose={() => (openDialog.value = undefined)}>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      {artifacts?.length === 0 && (
        <Empty icon="cube" title={t('no_artifacts')}>
          <span class="small">{t('no_artifacts_detail')}</span>
        </Empty>
      )}
      <ul class="rows">
        {artifacts?.map((artifact) => (
          <li key={artifact.id}>
            <Button class="row-title" onClick={() => void open(artifact.id).catch(setError)}>
              {artifact.title === '' ? t('untitled') : artifact.title}
            </Button>
            <Badge>{artifact.kind}</Badge>
            <span class="small quiet">
              {t('versions', { count: artifact.last_version })} · {formatTime(artifact.updated_at)}
            </span>
            <Button
              size="small"
              icon="trash"
              label={t('delete_named', { title: artifact.title === '' ? t('untitled') : artifact.title })}
              onClick={() => void erase(artifact).catch(setError)}
            />
          </li>
        ))}
      </ul>
      {next !== undefined && <Button onClick={() => void load(next).catch(setError)}>{t('more')}</Button>}
    </Dialog>
  );
}
