import { allRows } from '../../../client/list-pages.ts';
import { call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Badge } from '../../design/badge.tsx';
import { FactList } from '../../design/fact-list.tsx';
import { Notice } from '../../design/notice.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { type Key, keyColumns, revokeKey } from '../key-list.tsx';
import { listScreen } from '../list-screen.tsx';
import { ScimTokenDialog } from '../scim-token-dialog.tsx';

type Token = Key & { account: string };

const { name, start, used, expires } = keyColumns;

export const Screen = listScreen<Token>({
  title: 'provisioning',
  label: 'scim_tokens',
  detail: 'provisioning_detail',
  load: async () => ({ data: await scimTokens() }),
  keyOf: ({ id }) => id,
  empty: { icon: 'swap', title: 'no_scim_tokens', detail: 'no_scim_tokens_detail' },
  main: {
    text: 'new_scim_token',
    icon: 'plus',
    window: ({ close, reload }) => <ScimTokenDialog onClose={close} onMade={reload} />,
  },
  above: () => <SignInWays />,
  columns: [
    name,
    start,
    { head: 'account', cell: ({ account }) => account },
    { head: 'tenant', cell: ({ tenant }) => tenant },
    used,
    expires,
  ],
  buttons: (token) => [revokeKey(token, t('revoke_scim_detail', { name: token.name }))],
});

function SignInWays() {
  const { data, error } = useData(() => call('GET /api/v1/auth/methods'));
  const { oidc, reset_mail: mail, registration } = data ?? {};
  return (
    <section class="card stack" aria-label={t('sign_in_ways')}>
      <h2>{t('sign_in_ways')}</h2>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      <FactList
        facts={[
          { name: t('scim_address'), value: <code class="breakable">{`${location.origin}/scim/v2`}</code> },
          {
            name: 'OpenID Connect',
            value: oidc == null ? t('oidc_off') : <Badge tone="good">{oidc.label}</Badge>,
          },
          {
            name: t('self_registration'),
            value: registration?.open === true ? t('registration_open') : t('registration_closed'),
          },
          { name: t('reset_by_mail'), value: mail === true ? t('on') : t('reset_mail_off') },
        ]}
      />
    </section>
  );
}

/** Keys of programs' accounts that have the scope alone. */
async function scimTokens(): Promise<Token[]> {
  const accounts = await allRows((page) => call('GET /api/v1/identity/users', { query: { ...page, service: true } }));
  const lists = await Promise.all(
    accounts.map(async ({ id, username }) => {
      const keys = await allRows((page) => call('GET /api/v1/identity/keys', { query: { ...page, user: id } }));
      return keys.filter(({ scopes }) => scopes?.includes('scim')).map((key) => ({ ...key, account: username }));
    }),
  );
  return lists.flat();
}
