import { call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { accountId, hasRole, signOut } from '../../session/session.ts';
import { userNames } from '../account-names.ts';
import { attempt } from '../attempt.ts';
import { listScreen } from '../list-screen.tsx';

/** The own sessions; administrators choose whose. */
export const Screen = listScreen({
  title: 'sessions',
  detail: 'sessions_detail',
  load: async (_, { account: id = '' }) => {
    const { data } = await (id === ''
      ? call('GET /api/v1/users/me/sessions')
      : call('GET /api/v1/identity/users/{id}/sessions', { params: { id } }));
    return { data: data.map((session) => ({ ...session, account: id })) };
  },
  beside: async () => (hasRole('admin') ? await userNames() : new Map<string, string>()),
  keyOf: ({ id }) => id,
  empty: { icon: 'user', title: 'no_sessions' },
  filters: [
    {
      name: 'account',
      label: 'account',
      options: (names) => [
        { value: '', text: t('own_account') },
        ...[...(names ?? [])]
          .filter(([id]) => id !== accountId())
          .sort(([, a], [, b]) => a.localeCompare(b))
          .map(([value, text]) => ({ value, text })),
      ],
    },
  ],
  head: ({ rows, reload }, { account: id = '' }) =>
    id !== '' && (
      <Button look="plain" disabled={rows.length === 0} onClick={() => void endAll(id).then(reload)}>
        {t('end_all')}
      </Button>
    ),
  columns: [
    {
      head: 'browser',
      cell: ({ user_agent: agent }) => <span class="breakable">{agent === '' ? '–' : agent}</span>,
    },
    { head: 'address', cell: ({ remote_address: address }) => <code>{address}</code> },
    { head: 'begun', cell: ({ created_at: at }) => formatTime(at) },
    { head: 'last_used', cell: ({ seen_at: at }) => formatTime(at) },
    { head: 'expires', cell: ({ expires_at: at }) => formatTime(at) },
    {
      head: 'actions',
      kind: 'actions',
      cell: ({ id, current, account }, _, { reload }) => (
        <span class="row">
          {current && <Badge tone="good">{t('this_one')}</Badge>}
          <Button
            size="small"
            look="plain"
            onClick={() => void attempt(() => (current ? signOut() : endOne(account, id))).then(reload)}
          >
            {current ? t('sign_out') : t('end')}
          </Button>
        </span>
      ),
    },
  ],
});

function endAll(id: string): Promise<boolean> {
  return attempt(() => call('DELETE /api/v1/identity/users/{id}/sessions', { params: { id } }), t('sessions_ended'));
}

async function endOne(account: string, id: string): Promise<void> {
  if (account === '') await call('DELETE /api/v1/users/me/sessions/{id}', { params: { id } });
  else await call('DELETE /api/v1/identity/users/{id}/sessions/{session}', { params: { id: account, session: id } });
}
