import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { Button } from '../../design/button.tsx';
import { Notice } from '../../design/notice.tsx';
import { Switch } from '../../design/switch.tsx';
import { Table } from '../../design/table.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { ScreenFrame } from '../screen-frame.tsx';
import { type Setting, SettingDialog } from '../setting-dialog.tsx';
import { SettingSource } from '../setting-source.tsx';
import { SettingValue } from '../setting-value.tsx';
import { useData } from '../use-data.ts';

export function Settings() {
  const [text, setText] = useState('');
  const [isChangedOnly, setChangedOnly] = useState(false);
  const [edited, setEdited] = useState<Setting>();
  const { data, error, reload } = useData(() => call('GET /api/v1/system/settings'));
  const wanted = text.toLowerCase();
  const rows = (data?.settings ?? [])
    .filter(({ origin, is_saved: isSaved }) => !isChangedOnly || origin !== 'default' || isSaved)
    .filter(({ key, help }) => `${key} ${help}`.toLowerCase().includes(wanted));
  return (
    <ScreenFrame
      title={t('settings')}
      detail={t('settings_detail')}
      error={error}
      isLoading={data === undefined}
      actions={
        <>
          <Switch label={t('changed_only')} checked={isChangedOnly} onChange={setChangedOnly} />
          <TextField label={t('search')} value={text} onInput={setText} />
        </>
      }
    >
      <Table
        label={t('settings')}
        rows={rows}
        keyOf={({ key }) => key}
        columns={[
          {
            head: t('setting'),
            cell: ({ key, help }) => (
              <div class="two-lines">
                <code>{key}</code>
                <span class="small quiet">{help}</span>
              </div>
            ),
          },
          { head: t('value'), cell: (row) => <SettingValue setting={row} /> },
          { head: t('source'), cell: (row) => <SettingSource setting={row} /> },
          { head: t('variable'), cell: ({ environment }) => <code class="quiet">{environment}</code> },
          {
            head: t('actions'),
            kind: 'actions',
            // Sections are set where the things are that they are named after.
            cell: (row) =>
              row.has_sections ? (
                <a href={`#${row.key}`}>{t('models')}</a>
              ) : (
                <Button size="small" aria-label={t('change_setting', { key: row.key })} onClick={() => setEdited(row)}>
                  {t('change')}
                </Button>
              ),
          },
        ]}
      />
      {rows.some(({ is_pending: isPending }) => isPending) && <Notice tone="warn">{t('settings_pending')}</Notice>}
      {edited !== undefined && (
        <SettingDialog setting={edited} onClose={() => setEdited(undefined)} onSaved={() => void reload()} />
      )}
    </ScreenFrame>
  );
}
