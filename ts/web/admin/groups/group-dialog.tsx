/** A group: the role that it gives, and what its members may use. */
import { useState } from 'preact/hooks';
import { USE_KINDS } from '../../../client/use-kinds.ts';
import { type Answer, call } from '../../api/call.ts';
import { SelectField } from '../../design/select-field.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { hasRole } from '../../session/session.ts';
import { FormDialog } from '../form-dialog.tsx';
import { roleName } from '../role-name.ts';

export type Group = Answer<'GET /api/v1/identity/groups'>['data'][number];
type GivenRole = 'viewer' | 'developer' | 'admin' | null;

interface GroupDialogProps {
  /** Undefined: a new one. */
  group: Group | undefined;
  onClose(): void;
  onSaved(): Promise<void>;
}

export function GroupDialog({ group, onClose, onSaved }: GroupDialogProps) {
  const [name, setName] = useState(group?.name ?? '');
  const [description, setDescription] = useState(group?.description ?? '');
  const [role, setRole] = useState<string>(group?.role ?? '');
  const [granted, setGranted] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(USE_KINDS.map((kind) => [kind.name, group?.grants[kind.name].join(', ') ?? ''])),
  );
  const [externalId, setExternalId] = useState(group?.external_id ?? '');
  const [tenant, setTenant] = useState('');
  const send = async (): Promise<void> => {
    const grants = Object.fromEntries(Object.entries(granted).map(([kind, text]) => [kind, namesIn(text)]));
    const given = (role === '' ? null : role) as GivenRole;
    const body = { name, description, role: given, grants, external_id: externalId === '' ? null : externalId };
    if (group !== undefined) await call('PATCH /api/v1/identity/groups/{id}', { params: { id: group.id }, body });
    else await call('POST /api/v1/identity/groups', { body: { ...body, tenant: tenant || undefined } });
    await onSaved();
  };
  const roles = [
    { value: '', text: t('group_no_role') },
    ...['viewer', 'developer', 'admin'].map((value) => ({ value, text: roleName(value) })),
  ];
  return (
    <FormDialog
      title={group === undefined ? t('new_group') : t('edit_group', { name: group.name })}
      action={t('save')}
      send={send}
      onClose={onClose}
    >
      <TextField label={t('name')} value={name} onInput={setName} required maxLength={200} />
      <TextField label={t('description')} value={description} onInput={setDescription} maxLength={1000} />
      <SelectField label={t('role')} hint={t('group_role_hint')} value={role} options={roles} onChange={setRole} />
      {USE_KINDS.map(({ name: kind, example }) => (
        <TextField
          key={kind}
          label={t(`granted_${kind}`)}
          hint={t('granted_hint')}
          value={granted[kind] ?? ''}
          onInput={(text) => setGranted({ ...granted, [kind]: text })}
          placeholder={example}
        />
      ))}
      <TextField
        label={t('external_id')}
        hint={t('external_id_hint')}
        value={externalId}
        onInput={setExternalId}
        maxLength={256}
      />
      {group === undefined && hasRole('superadmin') && (
        <TextField label={t('tenant')} hint={t('tenant_hint')} value={tenant} onInput={setTenant} maxLength={128} />
      )}
    </FormDialog>
  );
}

/** Names that a reader types with commas or lines between them. */
function namesIn(text: string): string[] {
  return [...new Set(text.split(/[,\n]/).map((name) => name.trim()))].filter((name) => name !== '');
}
