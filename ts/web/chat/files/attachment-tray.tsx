/** Files of the message that is being written, above it. */

import { Button } from '../../design/button.tsx';
import { Icon } from '../../design/icon.tsx';
import { Progress } from '../../design/progress.tsx';
import { t } from '../../i18n/language.ts';
import { type AttachedFile, attached, detachFile } from './attached-files.ts';
import { KeepButton } from './keep-button.tsx';

export function AttachmentTray() {
  const files = attached.value;
  const hasDocuments = files.some(({ address, state }) => address === undefined && state !== 'refused');
  return (
    <div class="tray">
      <ul aria-label={t('files')}>
        {files.map((file) => (
          <FileChip key={file.id} file={file} />
        ))}
      </ul>
      {hasDocuments && <p class="small quiet tray-target">{t('files_are_private')}</p>}
    </div>
  );
}

/** A file of a message: its name, how far it is, and what is wrong with it. */
function FileChip({ file }: { file: AttachedFile }) {
  const { id, name, state, step, share, detail, address, conversationId, documentId, namespace } = file;
  const isOwn = namespace === undefined;
  const isBad = state === 'refused';
  return (
    <li class={isBad ? 'file-chip refused' : 'file-chip'}>
      {address === undefined ? <Icon name={isBad ? 'alert' : 'file'} /> : <img src={address} alt="" />}
      <span class="file-name">
        {name}
        {state === 'working' && (
          <Progress label={t(step === 'indexing' ? 'file_indexing' : 'file_sending', { name })} value={share} />
        )}
        <span class="small quiet" role={isBad ? 'alert' : undefined}>
          {state === 'working' ? t(step === 'indexing' ? 'indexing' : 'sending') : textOf(state, detail)}
        </span>
      </span>
      {isOwn && <KeepButton name={name} conversationId={conversationId} fileId={documentId} />}
      <Button size="small" icon="close" label={t('detach', { name })} onClick={() => detachFile(id)} />
    </li>
  );
}

function textOf(state: AttachedFile['state'], detail: string | undefined): string {
  if (state === 'indexed') return t('indexed');
  if (state === 'stored') return detail ?? t('stored_only');
  if (state === 'refused') return detail === undefined || detail === '' ? t('file_refused') : detail;
  return '';
}
