/** Adds an account by its description, which begins as one of mail. */
import { useState } from 'preact/hooks';
import type { Body } from '../../../client/client.ts';
import { call } from '../../api/call.ts';
import { TextArea } from '../../design/text-area.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { FormDialog } from '../form-dialog.tsx';

const EXAMPLE = {
  name: 'Alerts by mail',
  kind: 'email',
  settings: { host: 'mail.example.org', port: 587, user: 'svc', from: 'svc@example.org', tls: 'starttls' },
  allowed_recipients: ['*@example.org'],
  limits: { per_day: 200 },
};
const ROWS = 16;

export function AccountDialog({ onClose, onSaved }: { onClose(): void; onSaved(): Promise<void> }) {
  const [account, setAccount] = useState(JSON.stringify(EXAMPLE, null, 2));
  const [key, setKey] = useState('');
  const send = async (): Promise<void> => {
    const body = { ...(JSON.parse(account) as Body<'POST /api/v1/comm/accounts'>), ...(key !== '' && { key }) };
    await call('POST /api/v1/comm/accounts', { body });
    await onSaved();
  };
  return (
    <FormDialog title={t('add_message_account')} action={t('add_message_account')} send={send} onClose={onClose}>
      <TextArea
        label={t('message_account')}
        hint={t('message_account_hint')}
        value={account}
        rows={ROWS}
        isCode
        required
        onInput={setAccount}
      />
      <TextField
        label={t('message_key')}
        hint={t('message_key_hint')}
        type="password"
        value={key}
        onInput={setKey}
        maxLength={1000}
      />
    </FormDialog>
  );
}
