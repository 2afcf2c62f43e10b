/** Registers a provider. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { SelectField } from '../../design/select-field.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { FormDialog } from '../form-dialog.tsx';

const KINDS = ['openai', 'azure', 'anthropic', 'gemini', 'bedrock', 'ollama'] as const;
type Kind = (typeof KINDS)[number];

interface BackendDialogProps {
  onClose(): void;
  onSaved(): Promise<void>;
}

export function BackendDialog({ onClose, onSaved }: BackendDialogProps) {
  const [id, setId] = useState('');
  const [kind, setKind] = useState<Kind>('openai');
  const [url, setUrl] = useState('');
  const [key, setKey] = useState('');
  const send = async (): Promise<void> => {
    const address = url.trim() === '' ? {} : { base_url: url.trim() };
    const secret = key.trim() === '' ? {} : { key: key.trim() };
    await call('POST /api/v1/cloud/backends', { body: { id: id.trim(), kind, ...address, ...secret } });
    await onSaved();
  };
  return (
    <FormDialog title={t('add_backend')} action={t('save')} send={send} onClose={onClose}>
      <TextField label={t('name')} value={id} onInput={setId} required maxLength={64} />
      <SelectField label={t('kind')} value={kind} options={KINDS.map((value) => ({ value, text: value }))} onChange={setKind} />
      <TextField
        label={t('address')}
        hint={t('backend_address_hint')}
        type="url"
        value={url}
        onInput={setUrl}
        maxLength={2048}
        placeholder="https://"
      />
      <TextField
        label={t('backend_key')}
        hint={t('backend_key_hint')}
        type="password"
        value={key}
        onInput={setKey}
        maxLength={8192}
      />
    </FormDialog>
  );
}
