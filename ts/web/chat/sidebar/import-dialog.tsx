/** Why conversations of a file were not imported. */
import { Dialog } from '../../design/dialog.tsx';
import { t } from '../../i18n/language.ts';
import { type ImportResult, importResult, importSummary } from './import-conversations.ts';

export function ImportDialog({ result }: { result: ImportResult }) {
  return (
    <Dialog title={t('import')} onClose={() => (importResult.value = undefined)}>
      <p>{importSummary(result)}</p>
      <ul class="rows">
        {result.failed.map(({ index, reason }) => (
          <li key={index} class="breakable">
            {t('import_failed_at', { n: index + 1, reason })}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
