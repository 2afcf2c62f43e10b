import { type Answer, call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { accountId, type Role } from '../../session/session.ts';
import { KeyDialog } from '../key-dialog.tsx';
import { UserKeysDialog } from '../key-list.tsx';
import { type ListTools, listScreen, type RowAction } from '../list-screen.tsx';
import { givenRoles, roleName } from '../role-name.ts';
import { SecretDialog } from '../secret-dialog.tsx';
import { UserDialog } from '../user-dialog.tsx';

type User = Answer<'GET /api/v1/identity/users'>['data'][number];

export const Screen = listScreen({
  title: 'users',
  load: (query) => call('GET /api/v1/identity/users', { query }),
  keyOf: ({ id }) => id,
  nameOf: ({ username }) => username,
  filters: [{ name: 'wanted', label: 'search' }],
  // The route finds whole names alone.
  isWhole: ({ wanted = '' }) => wanted.trim() !== '',
  shows: ({ username, email, tenant }, { wanted = '' }) =>
    `${username} ${email ?? ''} ${tenant}`.toLowerCase().includes(wanted.trim().toLowerCase()),
  main: {
    text: 'new_user',
    icon: 'plus',
    window: ({ close, reload }) => <UserDialog onClose={close} onMade={reload} />,
  },
  columns: [
    {
      head: 'name',
      cell: ({ username, email }) => (
        <div class="two-lines">
          <span>{username}</span>
          {email !== null && <span class="small quiet">{email}</span>}
        </div>
      ),
    },
    {
      head: 'role',
      cell: ({ role }) => <Badge tone={role === 'viewer' ? 'neutral' : 'accent'}>{roleName(role)}</Badge>,
    },
    { head: 'tenant', cell: ({ tenant }) => tenant },
    {
      head: 'state',
      cell: ({ disabled, has_password }) =>
        disabled ? <Badge tone="danger">{t('disabled')}</Badge> : has_password ? t('active') : t('no_password'),
    },
    { head: 'last_sign_in', cell: ({ signed_in_at: at }) => formatTime(at) },
  ],
  menu: (user, tools) => [
    { text: t('api_keys'), icon: 'list', window: ({ close }) => <UserKeysDialog user={user} onClose={close} /> },
    { text: t('new_key'), icon: 'key', window: ({ close }) => <KeyDialog user={user} onClose={close} /> },
    { text: t('reset_password'), icon: 'refresh', run: () => reset(user, tools) },
    ...givenRoles().map((role, index) => ({ ...giveRole(user, role), isApart: index === 0 })),
    { ...switchOff(user), icon: 'stop', isApart: true },
    {
      text: t('delete'),
      icon: 'trash',
      isDangerous: true,
      question: [t('delete_user'), t('delete_user_detail', { name: user.username }), t('delete')],
      run: () => call('DELETE /api/v1/identity/users/{id}', { params: { id: user.id } }),
    },
  ],
});

async function reset({ id, username: name }: User, { open }: ListTools<User>): Promise<void> {
  const { token } = await call('POST /api/v1/identity/users/{id}/password-reset', { params: { id } });
  const title = t('reset_token_for', { name });
  open(({ close }) => <SecretDialog title={title} value={token} detail={t('reset_token_detail')} onClose={close} />);
}

function giveRole({ id, username: name, role: own }: User, role: Role): RowAction<User> {
  const isRaised = role === 'superadmin' && own !== 'superadmin';
  return {
    text: roleName(role),
    isChosen: role === own,
    question: isRaised ? [t('make_superadmin'), t('make_superadmin_detail', { name }), t('make_superadmin_yes')] : undefined,
    run: () => call('PATCH /api/v1/identity/users/{id}', { params: { id }, body: { role } }),
  };
}

function switchOff({ id, username: name, disabled }: User): RowAction<User> {
  const isOwn = id === accountId() && !disabled;
  return {
    text: disabled ? t('enable') : t('disable'),
    question: isOwn ? [t('disable_own'), t('disable_own_detail', { name }), t('disable')] : undefined,
    run: () => call('PATCH /api/v1/identity/users/{id}', { params: { id }, body: { disabled: !disabled } }),
  };
}
