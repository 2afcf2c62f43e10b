import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Empty } from '../../design/empty.tsx';
import { Menu } from '../../design/menu.tsx';
import { Progress } from '../../design/progress.tsx';
import { Table } from '../../design/table.tsx';
import { formatNumber } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { attempt } from '../attempt.ts';
import { type KeyName, keyNames } from '../key-names.ts';
import { LIMITS, type LimitName, type Quota, QuotaDialog } from '../quotas/quota-dialog.tsx';
import { ScreenFrame } from '../screen-frame.tsx';
import { useData } from '../use-data.ts';
import { userNames } from '../user-names.ts';

const EVERY_MS = 5000;

export function Quotas() {
  const { data, error, reload } = useData(() => call('GET /api/v1/metering/quotas'), [], EVERY_MS);
  const names = useData(async () => {
    const [people, keys] = await Promise.all([userNames(), keyNames()]);
    return { people, keys };
  });
  // The limit may be of an account or key that is new since.
  const saved = async (): Promise<void> => {
    await Promise.all([reload(), names.reload()]);
  };
  const [edited, setEdited] = useState<Quota | 'new'>();
  // A quota without limits is none.
  const quotas = (data?.data ?? []).filter((quota) => LIMITS.some((limit) => quota[limit] !== null));
  const lift = async (quota: Quota): Promise<void> => {
    if (!(await confirmed(t('lift_quota'), t('lift_quota_detail', { name: nameOf(quota, names.data) }), t('remove')))) return;
    const of = quota.user !== null ? { user: quota.user } : quota.key !== null ? { key: quota.key } : {};
    const none = { requests_per_minute: null, tokens_per_minute: null, requests_per_month: null, tokens_per_month: null };
    await attempt(() => call('PUT /api/v1/metering/quotas', { body: { tenant: quota.tenant, ...of, ...none } }));
    await reload();
  };
  return (
    <ScreenFrame
      title={t('quotas')}
      detail={t('quotas_detail')}
      error={error}
      isLoading={data === undefined}
      actions={
        <Button look="main" icon="plus" onClick={() => setEdited('new')}>
          {t('new_quota')}
        </Button>
      }
    >
      {quotas.length === 0 ? (
        <Empty icon="gauge" title={t('no_quotas')}>
          <span>{t('no_quotas_detail')}</span>
        </Empty>
      ) : (
        <Table
          label={t('quotas')}
          rows={quotas}
          keyOf={({ tenant, user, key }) => `${tenant} ${user} ${key}`}
          columns={[
            {
              head: t('quota_of'),
              cell: (quota) => (
                <div class="two-lines">
                  <span>{nameOf(quota, names.data)}</span>
                  <span class="small quiet">{kindOf(quota, names.data)}</span>
                </div>
              ),
            },
            { head: t('tenant'), cell: ({ tenant }) => tenant },
            ...LIMITS.map((limit) => ({
              head: t(`quota_${limit}`),
              cell: (quota: Quota) => <Use quota={quota} limit={limit} />,
            })),
            {
              head: t('actions'),
              kind: 'actions',
              cell: (quota) => (
                <Menu
                  items={[
                    { text: t('edit'), icon: 'edit', run: () => setEdited(quota) },
                    { text: t('remove'), icon: 'trash', isDangerous: true, isApart: true, run: () => void lift(quota) },
                  ]}
                  icon="more"
                  size="small"
                  label={t('actions_of', { name: nameOf(quota, names.data) })}
                />
              ),
            },
          ]}
        />
      )}
      {edited !== undefined && (
        <QuotaDialog quota={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} onSaved={saved} />
      )}
    </ScreenFrame>
  );
}

function Use({ quota, limit }: { quota: Quota; limit: LimitName }) {
  const most = quota[limit];
  if (most === null) return <span class="quiet">{t('unlimited')}</span>;
  const [kind, period] = limit.split('_per_') as ['requests' | 'tokens', 'minute' | 'month'];
  const used = quota.used[period][kind];
  return (
    <div class="use">
      <span class="small">
        {formatNumber(used)} / {formatNumber(most)}
      </span>
      <Progress label={t(`quota_${limit}`)} value={used / most} />
    </div>
  );
}

interface Names {
  people: ReadonlyMap<string, string>;
  keys: ReadonlyMap<string, KeyName>;
}

function nameOf({ tenant, user, key }: Quota, names: Names | undefined): string {
  if (user !== null) return names?.people.get(user) ?? user;
  return key === null ? tenant : (names?.keys.get(key)?.name ?? key);
}

function kindOf({ user, key }: Quota, names: Names | undefined): string {
  if (user !== null) return t('usage_by_user');
  if (key === null) return t('usage_by_tenant');
  return [t('usage_by_key'), names?.keys.get(key)?.owner].filter(Boolean).join(' · ');
}
