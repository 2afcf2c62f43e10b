import { USE_KINDS } from '../../../client/use-kinds.ts';
import { call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { t } from '../../i18n/language.ts';
import { type Group, GroupDialog } from '../groups/group-dialog.tsx';
import { MembersDialog } from '../groups/members-dialog.tsx';
import { listScreen } from '../list-screen.tsx';
import { roleName } from '../role-name.ts';

export const Screen = listScreen({
  title: 'groups',
  detail: 'groups_detail',
  load: (query) => call('GET /api/v1/identity/groups', { query }),
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  empty: { icon: 'users', title: 'no_groups', detail: 'no_groups_detail' },
  main: {
    text: 'new_group',
    icon: 'plus',
    window: ({ close, reload }) => <GroupDialog group={undefined} onClose={close} onSaved={reload} />,
  },
  columns: [
    {
      head: 'name',
      cell: ({ name, description }) => (
        <div class="two-lines">
          <span>{name}</span>
          {description !== '' && <span class="small quiet">{description}</span>}
        </div>
      ),
    },
    { head: 'role', cell: ({ role }) => (role === null ? '–' : <Badge tone="accent">{roleName(role)}</Badge>) },
    ...USE_KINDS.map(({ name }) => ({
      head: `granted_${name}` as const,
      cell: ({ grants }: Group) => <Names names={grants[name]} />,
    })),
    { head: 'tenant', cell: ({ tenant }) => tenant },
    { head: 'members', kind: 'number', cell: ({ member_count: count }) => count },
  ],
  menu: (group) => [
    {
      text: t('members'),
      icon: 'users',
      window: ({ close, reload }) => <MembersDialog group={group} onClose={close} onChanged={reload} />,
    },
    {
      text: t('edit'),
      icon: 'edit',
      window: ({ close, reload }) => <GroupDialog group={group} onClose={close} onSaved={reload} />,
    },
    {
      text: t('delete'),
      icon: 'trash',
      isDangerous: true,
      isApart: true,
      question: [t('delete_group'), t('delete_group_detail', { name: group.name }), t('delete')],
      run: () => call('DELETE /api/v1/identity/groups/{id}', { params: { id: group.id } }),
    },
  ],
});

function Names({ names }: { names: readonly string[] }) {
  return names.length === 0 ? <>–</> : <code class="breakable">{names.join(', ')}</code>;
}
