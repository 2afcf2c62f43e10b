/** Gives a backend another key. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { FormDialog } from '../form-dialog.tsx';

interface BackendKeyProps {
  id: string;
  onClose(): void;
  onSaved(): Promise<void>;
}

export function BackendKeyDialog({ id, onClose, onSaved }: BackendKeyProps) {
  const [key, setKey] = useState('');
  const send = async (): Promise<void> => {
    await call('PATCH /api/v1/cloud/backends/{id}', { params: { id }, body: { key: key.trim() } });
    await onSaved();
  };
  return (
    <FormDialog title={t('backend_key_of', { id })} action={t('save')} send={send} onClose={onClose}>
      <TextField
        label={t('backend_key')}
        hint={t('backend_key_hint')}
        type="password"
        value={key}
        onInput={setKey}
        required
        maxLength={8192}
      />
    </FormDialog>
  );
}
