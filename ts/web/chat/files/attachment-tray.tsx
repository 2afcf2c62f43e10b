/** Files of the message that is being written, above it. */
import { t } from '../../i18n/language.ts';
import { attached } from './attached-files.ts';
import { FileChip } from './file-chip.tsx';

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
