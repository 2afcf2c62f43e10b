import { allRows } from '../../../client/list-pages.ts';
import { Refusal } from '../../../client/refusal.ts';
import { call } from '../../api/call.ts';
import { confirmed } from '../../design/confirm.tsx';
import { formatNumber, formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { listScreen } from '../list-screen.tsx';
import { TenantDialog } from '../tenant-dialog.tsx';

export const Screen = listScreen({
  title: 'tenants',
  load: () => call('GET /api/v1/identity/tenants'),
  keyOf: ({ id }) => id,
  main: {
    text: 'new_tenant',
    icon: 'plus',
    window: ({ close, reload }) => <TenantDialog tenant={undefined} onClose={close} onSaved={reload} />,
  },
  columns: [
    { head: 'id', cell: ({ id }) => <code>{id}</code> },
    { head: 'name', cell: ({ name }) => name },
    {
      head: 'tokens_a_minute',
      kind: 'number',
      cell: ({ tokens_per_minute: limit }) => (limit === null ? t('unlimited') : formatNumber(limit)),
    },
    { head: 'priority', cell: ({ priority }) => (priority ? t('allowed') : '–') },
    { head: 'created', cell: ({ created_at: at }) => formatTime(at) },
  ],
  menu: (tenant) => [
    {
      text: t('edit'),
      icon: 'edit',
      window: ({ close, reload }) => <TenantDialog tenant={tenant} onClose={close} onSaved={reload} />,
    },
    { text: t('delete'), icon: 'trash', isDangerous: true, isApart: true, run: () => removeTenant(tenant.id) },
  ],
});

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
