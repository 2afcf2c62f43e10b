import { useState } from 'preact/hooks';
import { allRows } from '../../../client/list-pages.ts';
import { Refusal } from '../../../client/refusal.ts';
import { type Answer, call } from '../../api/call.ts';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { Table } from '../../design/table.tsx';
import { formatNumber, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { attempt } from '../attempt.ts';
import { ScreenFrame } from '../screen-frame.tsx';
import { TenantDialog } from '../tenant-dialog.tsx';
import { useData } from '../use-data.ts';

type Tenant = Answer<'GET /api/v1/identity/tenants'>['data'][number];

export function Tenants() {
  const { data, error, reload } = useData(() => call('GET /api/v1/identity/tenants'));
  const [edited, setEdited] = useState<Tenant | 'new'>();
  return (
    <ScreenFrame
      title={t('tenants')}
      error={error}
      isLoading={data === undefined}
      actions={
        <Button look="main" icon="plus" onClick={() => setEdited('new')}>
          {t('new_tenant')}
        </Button>
      }
    >
      <Table
        label={t('tenants')}
        rows={data?.data ?? []}
        keyOf={({ id }) => id}
        columns={[
          { head: t('id'), cell: ({ id }) => <code>{id}</code> },
          { head: t('name'), cell: ({ name }) => name },
          {
            head: t('tokens_a_minute'),
            kind: 'number',
            cell: ({ tokens_per_minute: limit }) => (limit === null ? t('unlimited') : formatNumber(limit)),
          },
          { head: t('priority'), cell: ({ priority }) => (priority ? t('allowed') : '–') },
          { head: t('created'), cell: ({ created_at }) => formatTime(created_at) },
          {
            head: t('actions'),
            kind: 'actions',
            cell: (tenant) => (
              <Menu
                items={actionsOf(tenant, reload, setEdited)}
                icon="more"
                size="small"
                label={t('actions_of', { name: tenant.id })}
              />
            ),
          },
        ]}
      />
      {edited !== undefined && (
        <TenantDialog tenant={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} onSaved={reload} />
      )}
    </ScreenFrame>
  );
}

async function countAccounts(id: string): Promise<number> {
  const users = await allRows((query) => call('GET /api/v1/identity/users', { query }));
  return users.filter(({ tenant }) => tenant === id).length;
}

/** What the reader was not told of stops the server, such as an account that is new since: its sentence is the next question. */
async function removeTenant(id: string): Promise<void> {
  const isSure = (detail: string): Promise<boolean> => confirmed(t('delete_tenant'), detail, t('delete'));
  const remove = (isForced: boolean) =>
    call('DELETE /api/v1/identity/tenants/{id}', { params: { id }, query: isForced ? { force: true } : {} });
  const count = await countAccounts(id);
  if (!(await isSure(count === 0 ? t('delete_empty_tenant_detail', { id }) : t('delete_tenant_detail', { id, count })))) return;
  try {
    await remove(count > 0);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'tenant_not_empty') throw error;
    if (await isSure(explain(error))) await remove(true);
  }
}

function actionsOf(tenant: Tenant, reload: () => Promise<void>, edit: (tenant: Tenant) => void): MenuItem[] {
  const { id } = tenant;
  const remove = async (): Promise<void> => {
    await attempt(() => removeTenant(id));
    await reload();
  };
  return [
    { text: t('edit'), icon: 'edit', run: () => edit(tenant) },
    { text: t('delete'), icon: 'trash', isDangerous: true, isApart: true, run: () => void remove() },
  ];
}
