import { call } from '../../api/call.ts';
import { Progress } from '../../design/progress.tsx';
import { formatNumber } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { type KeyName, keyNames, userNames } from '../account-names.ts';
import { listScreen } from '../list-screen.tsx';
import { LIMITS, type LimitName, type Quota, QuotaDialog } from '../quotas/quota-dialog.tsx';

const NONE = Object.fromEntries(LIMITS.map((limit) => [limit, null])) as Record<LimitName, null>;

export const Screen = listScreen({
  title: 'quotas',
  detail: 'quotas_detail',
  load: async () => {
    const { data } = await call('GET /api/v1/metering/quotas');
    // A quota without limits is none.
    return { data: data.filter((quota) => LIMITS.some((limit) => quota[limit] !== null)) };
  },
  beside: async () => {
    const [people, keys] = await Promise.all([userNames(), keyNames()]);
    return { people, keys };
  },
  keyOf: ({ tenant, user, key }) => `${tenant} ${user} ${key}`,
  nameOf,
  everyMs: 5000,
  empty: { icon: 'gauge', title: 'no_quotas', detail: 'no_quotas_detail' },
  main: {
    text: 'new_quota',
    icon: 'plus',
    window: ({ close, reload }) => <QuotaDialog quota={undefined} onClose={close} onSaved={reload} />,
  },
  columns: [
    {
      head: 'quota_of',
      cell: (quota, names) => (
        <div class="two-lines">
          <span>{nameOf(quota, names)}</span>
          <span class="small quiet">{kindOf(quota, names)}</span>
        </div>
      ),
    },
    { head: 'tenant', cell: ({ tenant }) => tenant },
    ...LIMITS.map((limit) => ({
      head: `quota_${limit}` as const,
      cell: (quota: Quota) => <Use quota={quota} limit={limit} />,
    })),
  ],
  menu: (quota, _, names) => [
    {
      text: t('edit'),
      icon: 'edit',
      window: ({ close, reload }) => <QuotaDialog quota={quota} onClose={close} onSaved={reload} />,
    },
    {
      text: t('remove'),
      icon: 'trash',
      isDangerous: true,
      isApart: true,
      question: [t('lift_quota'), t('lift_quota_detail', { name: nameOf(quota, names) }), t('remove')],
      run: () => call('PUT /api/v1/metering/quotas', { body: { tenant: quota.tenant, ...subjectOf(quota), ...NONE } }),
    },
  ],
});

function subjectOf({ user, key }: Quota): { user?: string; key?: string } {
  if (user !== null) return { user };
  return key === null ? {} : { key };
}

function Use({ quota, limit }: { quota: Quota; limit: LimitName }) {
  const most = quota[limit];
  if (most === null) return <span class="quiet">{t('unlimited')}</span>;
  const [kind, period] = limit.split('_per_') as ['requests' | 'tokens' | 'cost_micro', 'minute' | 'month'];
  const used = kind === 'cost_micro' ? quota.used.month.cost_micros : quota.used[period][kind];
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
