/** A file of a message: its name, how far it is, and what is wrong with it. */
import { Button } from '../../design/button.tsx';
import { Icon } from '../../design/icon.tsx';
import { Progress } from '../../design/progress.tsx';
import { t } from '../../i18n/language.ts';
import { type AttachedFile, detachFile } from './attached-files.ts';
import { KeepButton } from './keep-button.tsx';

export function FileChip({ file }: { file: AttachedFile }) {
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
