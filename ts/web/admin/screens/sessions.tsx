import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Empty } from '../../design/empty.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { hasRole, signOut, who } from '../../session/session.ts';
import { attempt } from '../attempt.ts';
import { ScreenFrame } from '../screen-frame.tsx';
import { useData } from '../use-data.ts';
import { userNames } from '../user-names.ts';

/** One's own sessions; administrators choose whose. */
export function Sessions() {
  const own = who.value?.user?.id ?? '';
  const [chosen, setChosen] = useState(own);
  const isOwn = chosen === own;
  const names = useData(async () => (hasRole('admin') ? await userNames() : new Map<string, string>()));
  const { data, error, reload } = useData(() => listOf(chosen, isOwn), [chosen]);
  const sessions = data?.data ?? [];
  const end = async (id: string, isCurrent: boolean): Promise<void> => {
    await attempt(() => (isCurrent ? signOut() : endOne(chosen, isOwn, id)));
    await reload();
  };
  const endAll = async (): Promise<void> => {
    await attempt(() => call('DELETE /api/v1/identity/users/{id}/sessions', { params: { id: chosen } }), t('sessions_ended'));
    await reload();
  };
  const others = [...(names.data ?? [])].filter(([id]) => id !== own).sort(([, a], [, b]) => a.localeCompare(b));
  return (
    <ScreenFrame
      title={t('sessions')}
      detail={t('sessions_detail')}
      error={error}
      isLoading={data === undefined}
      actions={
        others.length > 0 && (
          <>
            <SelectField
              label={t('account')}
              value={chosen}
              options={[{ value: own, text: t('own_account') }, ...others.map(([value, text]) => ({ value, text }))]}
              onChange={setChosen}
            />
            {!isOwn && (
              <Button look="plain" disabled={sessions.length === 0} onClick={() => void endAll()}>
                {t('end_all')}
              </Button>
            )}
          </>
        )
      }
    >
      {sessions.length === 0 ? (
        <Empty icon="user" title={t('no_sessions')} />
      ) : (
        <Table
          label={t('sessions')}
          rows={sessions}
          keyOf={({ id }) => id}
          columns={[
            {
              head: t('browser'),
              cell: ({ user_agent }) => <span class="breakable">{user_agent === '' ? '–' : user_agent}</span>,
            },
            { head: t('address'), cell: ({ remote_address }) => <code>{remote_address}</code> },
            { head: t('begun'), cell: ({ created_at }) => formatTime(created_at) },
            { head: t('last_used'), cell: ({ seen_at }) => formatTime(seen_at) },
            { head: t('expires'), cell: ({ expires_at }) => formatTime(expires_at) },
            {
              head: t('actions'),
              kind: 'actions',
              cell: ({ id, current }) => (
                <span class="row">
                  {current && <Badge tone="good">{t('this_one')}</Badge>}
                  <Button size="small" look="plain" onClick={() => void end(id, current)}>
                    {current ? t('sign_out') : t('end')}
                  </Button>
                </span>
              ),
            },
          ]}
        />
      )}
    </ScreenFrame>
  );
}

function listOf(user: string, isOwn: boolean) {
  return isOwn
    ? call('GET /api/v1/users/me/sessions')
    : call('GET /api/v1/identity/users/{id}/sessions', { params: { id: user } });
}

async function endOne(user: string, isOwn: boolean, session: string): Promise<void> {
  if (isOwn) await call('DELETE /api/v1/users/me/sessions/{id}', { params: { id: session } });
  else await call('DELETE /api/v1/identity/users/{id}/sessions/{session}', { params: { id: user, session } });
}
