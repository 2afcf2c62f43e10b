import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Empty } from '../../design/empty.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { Table } from '../../design/table.tsx';
import { t } from '../../i18n/language.ts';
import { attempt } from '../attempt.ts';
import { type Group, GroupDialog } from '../groups/group-dialog.tsx';
import { MembersDialog } from '../groups/members-dialog.tsx';
import { roleName } from '../role-name.ts';
import { ScreenFrame } from '../screen-frame.tsx';
import { useRows } from '../use-rows.ts';

export function Groups() {
  const { rows, error, reload, more } = useRows((query) => call('GET /api/v1/identity/groups', { query }));
  const [edited, setEdited] = useState<Group | 'new'>();
  const [shown, setShown] = useState<Group>();
  return (
    <ScreenFrame
      title={t('groups')}
      detail={t('groups_detail')}
      error={error}
      isLoading={rows === undefined}
      actions={
        <Button look="main" icon="plus" onClick={() => setEdited('new')}>
          {t('new_group')}
        </Button>
      }
    >
      {rows?.length === 0 ? (
        <Empty icon="users" title={t('no_groups')}>
          <span>{t('no_groups_detail')}</span>
        </Empty>
      ) : (
        <Table
          label={t('groups')}
          rows={rows ?? []}
          more={more}
          keyOf={({ id }) => id}
          columns={[
            {
              head: t('name'),
              cell: ({ name, description }) => (
                <div class="two-lines">
                  <span>{name}</span>
                  {description !== '' && <span class="small quiet">{description}</span>}
                </div>
              ),
            },
            { head: t('role'), cell: ({ role }) => (role === null ? '–' : <Badge tone="accent">{roleName(role)}</Badge>) },
            { head: t('granted_models'), cell: ({ grants }) => <Names names={grants.models} /> },
            { head: t('granted_bases'), cell: ({ grants }) => <Names names={grants.namespaces} /> },
            { head: t('tenant'), cell: ({ tenant }) => tenant },
            { head: t('members'), kind: 'number', cell: ({ member_count: count }) => count },
            {
              head: t('actions'),
              kind: 'actions',
              cell: (group) => (
                <Menu
                  items={actionsOf(group, reload, setEdited, setShown)}
                  icon="more"
                  size="small"
                  label={t('actions_of', { name: group.name })}
                />
              ),
            },
          ]}
        />
      )}
      {edited !== undefined && (
        <GroupDialog group={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} onSaved={reload} />
      )}
      {shown !== undefined && <MembersDialog group={shown} onClose={() => setShown(undefined)} onChanged={reload} />}
    </ScreenFrame>
  );
}

function Names({ names }: { names: readonly string[] }) {
  return names.length === 0 ? <>–</> : <code class="breakable">{names.join(', ')}</code>;
}

function actionsOf(
  group: Group,
  reload: () => Promise<void>,
  edit: (group: Group) => void,
  show: (group: Group) => void,
): MenuItem[] {
  const { id, name } = group;
  const remove = async (): Promise<void> => {
    if (!(await confirmed(t('delete_group'), t('delete_group_detail', { name }), t('delete')))) return;
    await attempt(() => call('DELETE /api/v1/identity/groups/{id}', { params: { id } }));
    await reload();
  };
  return [
    { text: t('members'), icon: 'users', run: () => show(group) },
    { text: t('edit'), icon: 'edit', run: () => edit(group) },
    { text: t('delete'), icon: 'trash', isDangerous: true, isApart: true, run: () => void remove() },
  ];
}
