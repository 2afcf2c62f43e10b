import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { SelectField } from '../design/select-field.tsx';
import { TextField } from '../design/text-field.tsx';
import { t } from '../i18n/language.ts';
import { hasRole, type Role } from '../session/session.ts';
import { FormDialog } from './form-dialog.tsx';
import { givenRoleOptions } from './role-name.ts';

export function UserDialog({ onClose, onMade }: { onClose(): void; onMade(): Promise<void> }) {
  const [username, setUsername] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [tenant, setTenant] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const send = async (): Promise<void> => {
    const given = { email: email || undefined, password: password || undefined, tenant: tenant || undefined };
    await call('POST /api/v1/identity/users', { body: { username, role, ...given } });
    await onMade();
  };
  return (
    <FormDialog title={t('new_user')} action={t('create')} send={send} onClose={onClose}>
      <TextField label={t('username')} value={username} onInput={setUsername} required maxLength={64} autocomplete="off" />
      <TextField label={t('email_optional')} type="email" value={email} onInput={setEmail} autocomplete="off" />
      <TextField
        label={t('password')}
        hint={t('user_password_hint')}
        type="password"
        value={password}
        onInput={setPassword}
        autocomplete="new-password"
      />
      <SelectField label={t('role')} hint={t('role_hint')} value={role} options={givenRoleOptions()} onChange={setRole} />
      {hasRole('superadmin') && (
        <TextField label={t('tenant')} hint={t('tenant_hint')} value={tenant} onInput={setTenant} maxLength={128} />
      )}
    </FormDialog>
  );
}
