import { useState } from 'preact/hooks';
import { allRows } from '../../../client/list-pages.ts';
import { call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Empty } from '../../design/empty.tsx';
import { FactList } from '../../design/fact-list.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { attempt } from '../attempt.ts';
import { ScimTokenDialog } from '../scim-token-dialog.tsx';
import { ScreenFrame } from '../screen-frame.tsx';
import { useData } from '../use-data.ts';

interface Token {
  id: string;
  name: string;
  start: string;
  account: string;
  tenant: string;
  used_at: string | null;
  expires_at: string | null;
}

export function Provisioning() {
  const { data, error, reload } = useData(scimTokens);
  const methods = useData(() => call('GET /api/v1/auth/methods'));
  const [isMaking, setMaking] = useState(false);
  const revoke = async ({ id, name }: Token): Promise<void> => {
    if (!(await confirmed(t('revoke_key'), t('revoke_scim_detail', { name }), t('revoke')))) return;
    await attempt(() => call('DELETE /api/v1/identity/keys/{id}', { params: { id } }), t('key_revoked', { name }));
    await reload();
  };
  const { oidc, reset_mail: mail, registration } = methods.data ?? {};
  return (
    <ScreenFrame
      title={t('provisioning')}
      detail={t('provisioning_detail')}
      error={error ?? methods.error}
      isLoading={data === undefined}
      actions={
        <Button look="main" icon="plus" onClick={() => setMaking(true)}>
          {t('new_scim_token')}
        </Button>
      }
    >
      <section class="card stack" aria-label={t('sign_in_ways')}>
        <h2>{t('sign_in_ways')}</h2>
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
      {data?.length === 0 ? (
        <Empty icon="swap" title={t('no_scim_tokens')}>
          <span>{t('no_scim_tokens_detail')}</span>
        </Empty>
      ) : (
        <Table
          label={t('scim_tokens')}
          rows={data ?? []}
          keyOf={({ id }) => id}
          columns={[
            { head: t('name'), cell: ({ name }) => name },
            { head: t('begins_with'), cell: ({ start }) => <code>{start}…</code> },
            { head: t('account'), cell: ({ account }) => account },
            { head: t('tenant'), cell: ({ tenant }) => tenant },
            { head: t('last_used'), cell: ({ used_at: at }) => formatTime(at) },
            { head: t('expires'), cell: ({ expires_at: at }) => (at === null ? t('never') : formatTime(at)) },
            {
              head: t('actions'),
              kind: 'actions',
              cell: (token) => (
                <Button
                  size="small"
                  look="danger"
                  aria-label={t('revoke_named', { name: token.name })}
                  onClick={() => void revoke(token)}
                >
                  {t('revoke')}
                </Button>
              ),
            },
          ]}
        />
      )}
      {isMaking && <ScimTokenDialog onClose={() => setMaking(false)} onMade={reload} />}
    </ScreenFrame>
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
