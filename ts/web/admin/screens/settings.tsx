import { call } from '../../api/call.ts';
import { Button } from '../../design/button.tsx';
import { Notice } from '../../design/notice.tsx';
import { t } from '../../i18n/language.ts';
import { listScreen } from '../list-screen.tsx';
import { SettingSource, SettingValue } from '../setting-cells.tsx';
import { SettingDialog } from '../setting-dialog.tsx';

export const Screen = listScreen({
  title: 'settings',
  detail: 'settings_detail',
  load: async () => ({ data: (await call('GET /api/v1/system/settings')).settings }),
  keyOf: ({ key }) => key,
  filters: [
    { name: 'changed', label: 'changed_only', kind: 'switch' },
    { name: 'text', label: 'search' },
  ],
  shows: ({ key, help, origin, is_saved: isSaved }, { changed = '', text = '' }) =>
    (changed === '' || origin !== 'default' || isSaved) && `${key} ${help}`.toLowerCase().includes(text.toLowerCase()),
  columns: [
    {
      head: 'setting',
      cell: ({ key, help }) => (
        <div class="two-lines">
          <code>{key}</code>
          <span class="small quiet">{help}</span>
        </div>
      ),
    },
    { head: 'value', cell: (row) => <SettingValue setting={row} /> },
    { head: 'source', cell: (row) => <SettingSource setting={row} /> },
    { head: 'variable', cell: ({ environment }) => <code class="quiet">{environment}</code> },
    {
      head: 'actions',
      kind: 'actions',
      // Sections are set where the things are that they are named after.
      cell: (row, _, { open }) =>
        row.has_sections ? (
          <a href={`#${row.key}`}>{t('models')}</a>
        ) : (
          <Button
            size="small"
            aria-label={t('change_setting', { key: row.key })}
            onClick={() =>
              open(({ close, reload }) => <SettingDialog setting={row} onClose={close} onSaved={() => void reload()} />)
            }
          >
            {t('change')}
          </Button>
        ),
    },
  ],
  below: ({ rows }) =>
    rows.some(({ is_pending: isPending }) => isPending) && <Notice tone="warn">{t('settings_pending')}</Notice>,
});
