import { useState } from 'preact/hooks';
import type { PageQuery } from '../../../client/list-pages.ts';
import { type Answer, call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { Table } from '../../design/table.tsx';
import { TextField } from '../../design/text-field.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { accountId, type Role } from '../../session/session.ts';
import { attempt } from '../attempt.ts';
import { KeyDialog } from '../key-dialog.tsx';
import { givenRoles, roleName } from '../role-name.ts';
import { ScreenFrame } from '../screen-frame.tsx';
import { SecretDialog } from '../secret-dialog.tsx';
import { useRows } from '../use-rows.ts';
import { UserDialog } from '../user-dialog.tsx';
import { UserKeysDialog } from '../user-keys-dialog.tsx';

type User = Answer<'GET /api/v1/identity/users'>['data'][number];

export function Users() {
  const [isMaking, setMaking] = useState(false);
  const [keyFor, setKeyFor] = useState<User>();
  const [keysOf, setKeysOf] = useState<User>();
  const [wanted, setWanted] = useState('');
  // The route finds whole names alone.
  const isWhole = wanted.trim() !== '';
  const load = (query: PageQuery) => call('GET /api/v1/identity/users', { query });
  const { rows, error, reload, more } = useRows(load, { isWhole });
  const [token, setToken] = useState<{ name: string; value: string }>();
  return (
    <ScreenFrame
      title={t('users')}
      error={error}
      isLoading={rows === undefined}
      actions={
        <>
          <TextField label={t('search')} value={wanted} onInput={setWanted} />
          <Button class="at-foot" look="main" icon="plus" onClick={() => setMaking(true)}>
            {t('new_user')}
          </Button>
        </>
      }
    >
      <Table
        label={t('users')}
        rows={(rows ?? []).filter((user) => matches(user, wanted))}
        more={more}
        keyOf={({ id }) => id}
        columns={[
          {
            head: t('name'),
            cell: ({ username, email }) => (
              <div class="two-lines">
                <span>{username}</span>
                {email !== null && <span class="small quiet">{email}</span>}
              </div>
            ),
          },
          {
            head: t('role'),
            cell: ({ role }) => <Badge tone={role === 'viewer' ? 'neutral' : 'accent'}>{roleName(role)}</Badge>,
          },
          { head: t('tenant'), cell: ({ tenant }) => tenant },
          {
            head: t('state'),
            cell: ({ disabled, has_password }) =>
              disabled ? <Badge tone="danger">{t('disabled')}</Badge> : has_password ? t('active') : t('no_password'),
          },
          { head: t('last_sign_in'), cell: ({ signed_in_at }) => formatTime(signed_in_at) },
          {
            head: t('actions'),
            kind: 'actions',
            cell: (user) => (
              <Menu
                items={actionsOf(user, reload, { makeKey: setKeyFor, showKeys: setKeysOf, showToken: setToken })}
                icon="more"
                size="small"
                label={t('actions_of', { name: user.username })}
              />
            ),
          },
        ]}
      />
      {isMaking && <UserDialog onClose={() => setMaking(false)} onMade={reload} />}
      {keysOf !== undefined && <UserKeysDialog user={keysOf} onClose={() => setKeysOf(undefined)} />}
      {keyFor !== undefined && <KeyDialog user={keyFor} onClose={() => setKeyFor(undefined)} />}
      {token !== undefined && (
        <SecretDialog
          title={t('reset_token_for', { name: token.name })}
          value={token.value}
          detail={t('reset_token_detail')}
          onClose={() => setToken(undefined)}
        />
      )}
    </ScreenFrame>
  );
}

function matches({ username, email, tenant }: User, wanted: string): boolean {
  return `${username} ${email ?? ''} ${tenant}`.toLowerCase().includes(wanted.trim().toLowerCase());
}

/** What an entry of the menu opens. */
interface Windows {
  makeKey(user: User): void;
  showKeys(user: User): void;
  showToken(token: { name: string; value: string }): void;
}

function actionsOf(user: User, reload: () => Promise<void>, { makeKey, showKeys, showToken }: Windows): MenuItem[] {
  const { id, username: name, role, disabled } = user;
  const params = { id };
  const patch = (body: { role?: Role; disabled?: boolean }): void => {
    void attempt(() => call('PATCH /api/v1/identity/users/{id}', { params, body })).then(reload);
  };
  const reset = async (): Promise<void> => {
    await attempt(async () => {
      const { token } = await call('POST /api/v1/identity/users/{id}/password-reset', { params });
      showToken({ name, value: token });
    });
  };
  const setRole = async (each: Role): Promise<void> => {
    const isRaised = each === 'superadmin' && role !== 'superadmin';
    if (isRaised && !(await confirmed(t('make_superadmin'), t('make_superadmin_detail', { name }), t('make_superadmin_yes'))))
      return;
    patch({ role: each });
  };
  const setDisabled = async (): Promise<void> => {
    const isOwn = id === accountId();
    if (isOwn && !disabled && !(await confirmed(t('disable_own'), t('disable_own_detail', { name }), t('disable')))) return;
    patch({ disabled: !disabled });
  };
  const remove = async (): Promise<void> => {
    if (!(await confirmed(t('delete_user'), t('delete_user_detail', { name }), t('delete')))) return;
    await attempt(() => call('DELETE /api/v1/identity/users/{id}', { params }));
    await reload();
  };
  return [
    { text: t('api_keys'), icon: 'list', run: () => showKeys(user) },
    { text: t('new_key'), icon: 'key', run: () => makeKey(user) },
    { text: t('reset_password'), icon: 'refresh', run: () => void reset() },
    ...givenRoles().map(
      (each, index): MenuItem => ({
        text: roleName(each),
        isChosen: each === role,
        isApart: index === 0,
        run: () => void setRole(each),
      }),
    ),
    { text: disabled ? t('enable') : t('disable'), icon: 'stop', isApart: true, run: () => void setDisabled() },
    { text: t('delete'), icon: 'trash', isDangerous: true, run: () => void remove() },
  ];
}
