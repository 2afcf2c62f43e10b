/** Registers an MCP server, and shows what it offers. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { SelectField } from '../../design/select-field.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { FormDialog } from '../form-dialog.tsx';
import { OfferedToolsDialog } from './offered-tools-dialog.tsx';

const AUTH = ['none', 'bearer', 'oauth'] as const;

interface McpServerDialogProps {
  onClose(): void;
  onSaved(): Promise<void>;
}

export function McpServerDialog({ onClose, onSaved }: McpServerDialogProps) {
  const [label, setLabel] = useState('');
  const [url, setUrl] = useState('');
  const [type, setType] = useState<(typeof AUTH)[number]>('none');
  const [token, setToken] = useState('');
  const [isMade, setMade] = useState(false);
  const send = async (): Promise<void> => {
    const auth = type === 'bearer' ? { type, token: token.trim() } : { type };
    await call('POST /api/v1/tools/mcp-servers', { body: { label, url: url.trim(), auth } });
    await onSaved();
    setMade(true);
  };
  if (isMade) return <OfferedToolsDialog label={label} onClose={onClose} onSaved={onSaved} />;
  return (
    <FormDialog title={t('new_mcp_server')} action={t('save')} send={send} onClose={onClose} onSent={() => {}}>
      <TextField label={t('mcp_label')} hint={t('mcp_label_hint')} value={label} onInput={setLabel} required maxLength={32} />
      <TextField label={t('address')} type="url" value={url} onInput={setUrl} required maxLength={2000} placeholder="https://" />
      <SelectField
        label={t('mcp_sign_in')}
        value={type}
        options={AUTH.map((value) => ({ value, text: t(`mcp_${value}`) }))}
        onChange={setType}
      />
      {type === 'bearer' && (
        <TextField
          label={t('mcp_token')}
          hint={t('mcp_token_hint')}
          type="password"
          value={token}
          onInput={setToken}
          required
          maxLength={4000}
        />
      )}
    </FormDialog>
  );
}
