/** What is set otherwise for one model, over what holds for all; each setting with its source. */
import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { useData } from '../api/use-data.ts';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Notice } from '../design/notice.tsx';
import { Switch } from '../design/switch.tsx';
import { Table } from '../design/table.tsx';
import { TextField } from '../design/text-field.tsx';
import { t } from '../i18n/language.ts';
import { explain } from '../session/explain.ts';
import { SettingSource, SettingValue } from './setting-cells.tsx';
import { type Setting, SettingDialog } from './setting-dialog.tsx';

export function ModelSettingsDialog({ id, onClose }: { id: string; onClose(): void }) {
  const { data, error, reload } = useData(() =>
    call('GET /api/v1/system/settings/{key}/{name}', { params: { key: 'models', name: id } }),
  );
  const [text, setText] = useState('');
  const [isOwnOnly, setOwnOnly] = useState(false);
  const [edited, setEdited] = useState<Setting>();
  const nameOf = ({ key }: Setting): string => key.slice(`models.${id}.`.length);
  const wanted = text.toLowerCase();
  const rows = (data?.settings ?? [])
    .filter(({ inherited_from: inherited, origin, is_saved: isSaved }) => {
      const isOwn = isSaved || (inherited === null && origin !== 'default');
      return isOwn || !isOwnOnly;
    })
    .filter((row) => `${nameOf(row)} ${row.help}`.toLowerCase().includes(wanted));
  if (edited !== undefined)
    return (
      <SettingDialog
        setting={edited}
        title={t('model_setting', { key: nameOf(edited), id })}
        onClose={() => setEdited(undefined)}
        onSaved={() => void reload()}
      />
    );
  return (
    <Dialog title={t('model_settings', { id })} wide onClose={onClose}>
      <p class="small quiet">{t('model_settings_detail')}</p>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      {data === undefined && error === undefined && <span class="spinner" role="status" aria-label={t('loading')} />}
      {data !== undefined && (
        <>
          <div class="filters">
            <TextField label={t('search')} value={text} onInput={setText} />
            <span class="at-foot">
              <Switch label={t('model_settings_own')} checked={isOwnOnly} onChange={setOwnOnly} />
            </span>
          </div>
          {rows.length === 0 ? (
            <p class="quiet">{t('model_settings_none')}</p>
          ) : (
            <Table
              label={t('settings')}
              rows={rows}
              keyOf={({ key }) => key}
              columns={[
                {
                  head: t('setting'),
                  cell: (row) => (
                    <div class="two-lines">
                      <code>{nameOf(row)}</code>
                      <span class="small quiet">{row.help}</span>
                    </div>
                  ),
                },
                { head: t('value'), cell: (row) => <SettingValue setting={row} /> },
                { head: t('source'), cell: (row) => <SettingSource setting={row} /> },
                {
                  head: t('actions'),
                  kind: 'actions',
                  cell: (row) => (
                    <Button size="small" aria-label={t('change_setting', { key: nameOf(row) })} onClick={() => setEdited(row)}>
                      {t('change')}
                    </Button>
                  ),
                },
              ]}
            />
          )}
          {rows.some(({ is_pending: isPending }) => isPending) && <Notice tone="warn">{t('settings_pending')}</Notice>}
        </>
      )}
    </Dialog>
  );
}
