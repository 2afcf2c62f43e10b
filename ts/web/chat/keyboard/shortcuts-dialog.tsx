import { Dialog } from '../../design/dialog.tsx';
import { t } from '../../i18n/language.ts';
import { openDialog } from '../dialogs.ts';
import { SHORTCUTS } from './shortcuts.ts';

export function ShortcutsDialog() {
  return (
    <Dialog title={t('shortcuts')} onClose={() => (openDialog.value = undefined)}>
      <dl class="shortcuts">
        {SHORTCUTS.map(({ keys, text }) => (
          <div key={text}>
            <dt>{t(text)}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
        <div>
          <dt>{t('new_line')}</dt>
          <dd>
            <kbd>Shift</kbd>
            <kbd>Enter</kbd>
          </dd>
        </div>
      </dl>
    </Dialog>
  );
}
