/** Makes a program's account for a directory, and its key, which has the scope `scim` alone and is shown once. */
import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { TextField } from '../design/text-field.tsx';
import { t } from '../i18n/language.ts';
import { hasRole } from '../session/session.ts';
import { FormDialog } from './form-dialog.tsx';
import { SecretDialog } from './secret-dialog.tsx';

export function ScimTokenDialog({ onClose, onMade }: { onClose(): void; onMade(): Promise<void> }) {
  const [username, setUsername] = useState('directory');
  const [tenant, setTenant] = useState('');
  const [token, setToken] = useState<string>();
  const send = async (): Promise<void> => {
    const account = await accountNamed(username.trim(), tenant.trim());
    const made = await call('POST /api/v1/identity/keys', { body: { name: 'SCIM', scopes: ['scim'], user: account } });
    setToken(made.api_key);
    await onMade();
  };
  if (token !== undefined) {
    const example = `curl ${location.origin}/scim/v2/Users -H 'Authorization: Bearer ${token}'`;
    return (
      <SecretDialog
        title={t('new_scim_token')}
        value={token}
        detail={t('scim_token_detail')}
        example={example}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog title={t('new_scim_token')} action={t('create')} send={send} onClose={onClose} onSent={() => {}}>
      <TextField
        label={t('account')}
        hint={t('scim_account_hint')}
        value={username}
        onInput={setUsername}
        required
        maxLength={64}
      />
      {hasRole('superadmin') && (
        <TextField label={t('tenant')} hint={t('tenant_hint')} value={tenant} onInput={setTenant} maxLength={128} />
      )}
    </FormDialog>
  );
}

/** The id of the program's account; it is made when there is none. A person's account is not taken for it. */
async function accountNamed(username: string, tenant: string): Promise<string> {
  const { data } = await call('GET /api/v1/identity/users', { query: { username, limit: 1 } });
  const [known] = data;
  if (known?.service === true) return known.id;
  const body = { username, role: 'admin', service: true, tenant: tenant || undefined } as const;
  return (await call('POST /api/v1/identity/users', { body })).id;
}
