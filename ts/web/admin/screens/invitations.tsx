import { useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Empty } from '../../design/empty.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { attempt } from '../attempt.ts';
import { InvitationDialog } from '../invitation-dialog.tsx';
import { roleName } from '../role-name.ts';
import { ScreenFrame } from '../screen-frame.tsx';
import { useRows } from '../use-rows.ts';

type Invitation = Answer<'GET /api/v1/identity/invitations'>['data'][number];

const TONES = { open: 'good', used_up: 'neutral', expired: 'warn' } as const;

export function Invitations() {
  const { rows, error, reload, more } = useRows((query) => call('GET /api/v1/identity/invitations', { query }));
  const [isMaking, setMaking] = useState(false);
  const revoke = async ({ id, note }: Invitation): Promise<void> => {
    if (!(await confirmed(t('revoke_invitation'), t('revoke_invitation_detail', { name: note || id }), t('revoke')))) return;
    await attempt(() => call('DELETE /api/v1/identity/invitations/{id}', { params: { id } }));
    await reload();
  };
  return (
    <ScreenFrame
      title={t('invitations')}
      detail={t('invitations_detail')}
      error={error}
      isLoading={rows === undefined}
      actions={
        <Button look="main" icon="plus" onClick={() => setMaking(true)}>
          {t('new_invitation')}
        </Button>
      }
    >
      {rows?.length === 0 ? (
        <Empty icon="users" title={t('no_invitations')} />
      ) : (
        <Table
          label={t('invitations')}
          rows={rows ?? []}
          more={more}
          keyOf={({ id }) => id}
          columns={[
            { head: t('note'), cell: ({ note, id }) => (note === '' ? <code>{id}</code> : note) },
            { head: t('role'), cell: ({ role }) => roleName(role) },
            { head: t('tenant'), cell: ({ tenant }) => tenant },
            { head: t('state'), cell: ({ state }) => <Badge tone={TONES[state]}>{t(`invitation_${state}`)}</Badge> },
            { head: t('uses'), kind: 'number', cell: ({ uses, max_uses }) => `${uses}/${max_uses}` },
            { head: t('expires'), cell: ({ expires_at }) => formatTime(expires_at) },
            {
              head: t('actions'),
              kind: 'actions',
              cell: (row) => (
                <Button
                  size="small"
                  look="danger"
                  aria-label={t('revoke_named', { name: row.note || row.id })}
                  onClick={() => void revoke(row)}
                >
                  {t('revoke')}
                </Button>
              ),
            },
          ]}
        />
      )}
      {isMaking && <InvitationDialog onClose={() => setMaking(false)} onMade={reload} />}
    </ScreenFrame>
  );
}
