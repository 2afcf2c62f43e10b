/** The keys of somebody's account, for an administrator: which there are, when they were used, and revoking one. */

import type { PageQuery } from '../../client/list-pages.ts';
import { call } from '../api/call.ts';
import { Button } from '../design/button.tsx';
import { confirmed } from '../design/confirm.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Empty } from '../design/empty.tsx';
import { Notice } from '../design/notice.tsx';
import { Table } from '../design/table.tsx';
import { formatTime } from '../i18n/format.ts';
import { t } from '../i18n/language.ts';
import { explain } from '../session/explain.ts';
import { attempt } from './attempt.ts';
import { useRows } from './use-rows.ts';

export function UserKeysDialog({ user, onClose }: { user: { id: string; username: string }; onClose(): void }) {
  const load = (page: PageQuery) => call('GET /api/v1/identity/keys', { query: { ...page, user: user.id } });
  const { rows: keys, error, reload, more } = useRows(load);
  const revoke = async (id: string, name: string): Promise<void> => {
    if (!(await confirmed(t('revoke_key'), t('revoke_key_detail', { name }), t('revoke')))) return;
    await attempt(() => call('DELETE /api/v1/identity/keys/{id}', { params: { id } }), t('key_revoked', { name }));
    await reload();
  };
  return (
    <Dialog title={t('keys_of', { name: user.username })} wide onClose={onClose}>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      {keys === undefined && error === undefined && <span class="spinner" role="status" aria-label={t('loading')} />}
      {keys?.length === 0 && <Empty icon="key" title={t('no_keys')} />}
      {keys !== undefined && keys.length > 0 && (
        <Table
          label={t('keys_of', { name: user.username })}
          rows={keys}
          more={more}
          keyOf={({ id }) => id}
          columns={[
            { head: t('name'), cell: ({ name }) => <span class="breakable">{name}</span> },
            { head: t('begins_with'), cell: ({ start }) => <code>{start}…</code> },
            { head: t('id'), cell: ({ id }) => <code class="small">{id}</code> },
            { head: t('scopes'), cell: ({ scopes }) => (scopes === null ? t('all_of_role') : scopes.join(', ')) },
            { head: t('last_used'), cell: ({ used_at: at }) => formatTime(at) },
            { head: t('expires'), cell: ({ expires_at: at }) => (at === null ? t('never') : formatTime(at)) },
            {
              head: t('actions'),
              kind: 'actions',
              cell: ({ id, name }) => (
                <Button size="small" look="danger" aria-label={t('revoke_named', { name })} onClick={() => void revoke(id, name)}>
                  {t('revoke')}
                </Button>
              ),
            },
          ]}
        />
      )}
    </Dialog>
  );
}
