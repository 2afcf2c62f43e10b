/** Files of the message that is being written, above it, and the knowledge base that they go into. */
import { useEffect } from 'preact/hooks';
import { t } from '../../i18n/language.ts';
import { bases, loadBases } from '../knowledge/bases.ts';
import { attached, chooseTarget, targetBase } from './attached-files.ts';
import { FileChip } from './file-chip.tsx';

export function AttachmentTray() {
  const files = attached.value;
  const hasDocuments = files.some(({ address }) => address === undefined);
  useEffect(() => {
    // Only the choice of another base is missing without the list.
    if (bases.value === undefined) loadBases().catch(() => undefined);
  }, []);
  const names = [...new Set([targetBase.value, ...(bases.value ?? []).map(({ namespace }) => namespace)])];
  return (
    <div class="tray">
      <ul aria-label={t('files')}>
        {files.map((file) => (
          <FileChip key={file.id} file={file} />
        ))}
      </ul>
      {hasDocuments && (
        <label class="small quiet tray-target">
          {t('files_go_into')}{' '}
          <select class="input" value={targetBase.value} onChange={(event) => chooseTarget(event.currentTarget.value)}>
            {names.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>{' '}
          {t('files_are_seen')}
        </label>
      )}
    </div>
  );
}
