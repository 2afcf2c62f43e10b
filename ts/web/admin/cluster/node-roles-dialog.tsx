/** The roles of one node, which are switched at once, wherever the node is. */
import { useState } from 'preact/hooks';
import { Refusal } from '../../../client/refusal.ts';
import { type Answer, call } from '../../api/call.ts';
import { confirmed } from '../../design/confirm.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Switch } from '../../design/switch.tsx';
import { t } from '../../i18n/language.ts';
import { attempt } from '../attempt.ts';

export type ClusterNode = Answer<'GET /api/v1/cluster/topology'>['nodes'][number];
export type NodeRole = ClusterNode['roles'][number];

export const NODE_ROLES: readonly NodeRole[] = [
  'controller',
  'edge',
  'data',
  'inference',
  'cloud',
  'router',
  'media',
  'security',
  'logs',
];

interface NodeRolesProps {
  node: ClusterNode;
  onClose(): void;
  onChanged(): Promise<void>;
}

export function NodeRolesDialog({ node: { id, name, roles: given }, onClose, onChanged }: NodeRolesProps) {
  const [roles, setRoles] = useState<readonly string[]>(given);
  const [busy, setBusy] = useState<NodeRole>();
  const change = async (role: NodeRole, enabled: boolean): Promise<void> => {
    setBusy(role);
    await attempt(async () => {
      const isSure = enabled || (await confirmed(t('switch_role_off'), t('switch_role_off_detail', { role }), t('switch_off')));
      if (isSure) setRoles((await switchRole(id, role, enabled)) ?? roles);
    });
    setBusy(undefined);
    await onChanged();
  };
  return (
    <Dialog title={t('node_roles_of', { name })} onClose={onClose}>
      <p class="small quiet">{t('node_roles_detail')}</p>
      <div class="stack">
        {NODE_ROLES.map((role) => (
          <Switch
            key={role}
            label={role}
            checked={roles.includes(role)}
            disabled={busy !== undefined}
            onChange={(on) => void change(role, on)}
          />
        ))}
      </div>
    </Dialog>
  );
}

/** Resolves to the roles that the node has then; undefined: the reader does not want what it costs. */
async function switchRole(id: string, role: NodeRole, enabled: boolean): Promise<readonly string[] | undefined> {
  const send = (force: boolean) =>
    call('PUT /api/v1/cluster/nodes/{id}/roles/{role}', { params: { id, role }, body: { enabled, ...(force && { force }) } });
  try {
    return (await send(false)).roles;
  } catch (error) {
    const costs = error instanceof Refusal && error.code === 'data_role_holds_data';
    if (!costs) throw error;
    if (!(await confirmed(t('switch_role_off'), error.message, t('switch_off')))) return undefined;
    return (await send(true)).roles;
  }
}
