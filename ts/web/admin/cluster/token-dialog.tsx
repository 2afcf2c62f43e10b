/** Makes a token by which one machine joins the cluster, and shows the command that uses it, once. */
import { useState } from 'preact/hooks';
import type { Body } from '../../../client/client.ts';
import { type Answer, call } from '../../api/call.ts';
import { CheckList } from '../../design/check-list.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { FormDialog } from '../form-dialog.tsx';
import { SecretDialog } from '../secret-dialog.tsx';
import { NODE_ROLES, type NodeRole } from './node-roles-dialog.tsx';

const HOUR = 3600;
const LIFETIMES = [1, 8, 24];
/** A machine that joins with a token is no controller. */
const OF_MACHINES = NODE_ROLES.filter((role) => role !== 'controller');

type NewToken = Body<'POST /api/v1/cluster/join-tokens'>;

export function TokenDialog({ onClose }: { onClose(): void }) {
  const [roles, setRoles] = useState<readonly string[]>(['inference']);
  const [hours, setHours] = useState(String(LIFETIMES[0]));
  const [made, setMade] = useState<Answer<'POST /api/v1/cluster/join-tokens'>>();
  const send = async (): Promise<void> => {
    const body: NewToken = { roles: roles as NodeRole[], expires_in_seconds: Number(hours) * HOUR };
    setMade(await call('POST /api/v1/cluster/join-tokens', { body }));
  };
  if (made !== undefined)
    return (
      <SecretDialog
        title={t('join_token')}
        value={`svc node join ${made.token}`}
        detail={t('join_token_detail', { time: formatTime(made.expires_at) })}
        onClose={onClose}
      />
    );
  return (
    <FormDialog title={t('add_machine')} action={t('create')} send={send} onClose={onClose} onSent={stayForTheToken}>
      <p class="small quiet">{t('add_machine_detail')}</p>
      <CheckList
        label={t('node_roles_of_machine')}
        options={OF_MACHINES.map((role) => ({
          value: role,
          text: role,
          hint: role === 'data' ? t('role_data_hint') : undefined,
        }))}
        chosen={roles}
        onChange={setRoles}
      />
      <SelectField
        label={t('expires')}
        value={hours}
        options={LIFETIMES.map((count) => ({ value: String(count), text: t('hours', { count }) }))}
        onChange={setHours}
      />
    </FormDialog>
  );
}

/** The token is shown in the place of the form. */
function stayForTheToken(): void {}
