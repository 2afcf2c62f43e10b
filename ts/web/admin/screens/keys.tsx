import { useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Empty } from '../../design/empty.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { attempt } from '../attempt.ts';
import { KeyDialog } from '../key-dialog.tsx';
import { ScreenFrame } from '../screen-frame.tsx';
import { useRows } from '../use-rows.ts';

type Key = Answer<'GET /api/v1/identity/keys'>['data'][number];

export function Keys() {
  const { rows, error, reload, more } = useRows((query) => call('GET /api/v1/identity/keys', { query }));
  const [isMaking, setMaking] = useState(false);
  const revoke = async ({ id, name }: Key): Promise<void> => {
    if (!(await confirmed(t('revoke_key'), t('revoke_key_detail', { name }), t('revoke')))) return;
    await attempt(() => call('DELETE /api/v1/identity/keys/{id}', { params: { id } }), t('key_revoked', { name }));
    await reload();
  };
  return (
    <ScreenFrame
      title={t('api_keys')}
      detail={t('api_keys_detail')}
      error={error}
      isLoading={rows === undefined}
      actions={
        <Button look="main" icon="plus" onClick={() => setMaking(true)}>
          {t('new_key')}
        </Button>
      }
    >
      {rows?.length === 0 ? (
        <Empty icon="key" title={t('no_keys')} />
      ) : (
        <Table
          label={t('api_keys')}
          rows={rows ?? []}
          more={more}
          keyOf={({ id }) => id}
          columns={[
            { head: t('name'), cell: ({ name }) => name },
            { head: t('begins_with'), cell: ({ start }) => <code>{start}…</code> },
            { head: t('scopes'), cell: ({ scopes }) => (scopes === null ? t('all_of_role') : scopes.join(', ')) },
            { head: t('created'), cell: ({ created_at }) => formatTime(created_at) },
            { head: t('last_used'), cell: ({ used_at }) => formatTime(used_at) },
            { head: t('expires'), cell: ({ expires_at }) => (expires_at === null ? t('never') : formatTime(expires_at)) },
            {
              head: t('actions'),
              kind: 'actions',
              cell: (key) => (
                <Button
                  size="small"
                  look="danger"
                  onClick={() => void revoke(key)}
                  aria-label={t('revoke_named', { name: key.name })}
                >
                  {t('revoke')}
                </Button>
              ),
            },
          ]}
        />
      )}
      {isMaking && <KeyDialog onClose={() => setMaking(false)} onMade={reload} />}
    </ScreenFrame>
  );
}
