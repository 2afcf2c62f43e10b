/** Documents of a knowledge base, and files that are added to it, each with its progress or why it was refused. */
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Notice } from '../../design/notice.tsx';
import { formatBytes, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { hasRole } from '../../session/session.ts';
import { openDialog } from '../dialogs.ts';
import { listDocuments, loadBases, removeDocument, type StoredDocument } from './bases.ts';
import { DropField } from './drop-field.tsx';

interface BaseDocumentsProps {
  namespace: string;
  /** What is to be known of its embedding model. */
  note: string | undefined;
  onBack(): void;
}

export function BaseDocuments({ namespace, note, onBack }: BaseDocumentsProps) {
  const [documents, setDocuments] = useState<readonly StoredDocument[] | undefined>();
  const [next, setNext] = useState<string | undefined>();
  const [error, setError] = useState<unknown>();
  const load = async (after?: string): Promise<void> => {
    const page = await listDocuments(namespace, after);
    setDocuments((known = []) => (after === undefined ? page.data : [...known, ...page.data]));
    setNext(page.next);
  };
  useEffect(() => void load().catch(setError), [namespace]);
  const remove = async ({ id, source }: StoredDocument): Promise<void> => {
    if (!(await confirmed(t('delete'), t('document_delete_detail', { name: source, base: namespace }), t('delete')))) return;
    await removeDocument(namespace, id);
    await Promise.all([load(), loadBases()]);
  };
  const isWriter = hasRole('developer');
  return (
    <Dialog title={namespace} wide onClose={() => (openDialog.value = undefined)}>
      <div>
        <Button icon="left" onClick={onBack}>
          {t('knowledge')}
        </Button>
      </div>
      {note !== undefined && <Notice tone="warn">{note}</Notice>}
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      {isWriter ? (
        <DropField namespace={namespace} onAdded={() => void load().catch(setError)} />
      ) : (
        <p>{t('knowledge_needs_role')}</p>
      )}
      {documents?.length === 0 && <p class="quiet">{t('no_documents')}</p>}
      <ul class="rows">
        {documents?.map((document) => (
          <li key={document.id}>
            <div class="grow">
              <span>{document.source}</span>
              <span class="small quiet excerpt">
                {formatBytes(document.bytes)} · {formatTime(document.added_at)}
                {document.state === 'stored' && ` · ${document.detail ?? t('stored_only')}`}
              </span>
            </div>
            {isWriter && (
              <Button
                size="small"
                icon="trash"
                label={t('delete_named', { title: document.source })}
                onClick={() => void remove(document).catch(setError)}
              />
            )}
          </li>
        ))}
      </ul>
      {next !== undefined && <Button onClick={() => void load(next).catch(setError)}>{t('more')}</Button>}
    </Dialog>
  );
}
