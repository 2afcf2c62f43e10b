/** Halts all writes to devices, with a reason that whoever is refused reads. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { FormDialog } from '../form-dialog.tsx';

export function HaltDialog({ onClose, onSaved }: { onClose(): void; onSaved(): Promise<void> }) {
  const [reason, setReason] = useState('');
  const send = async (): Promise<void> => {
    await call('POST /api/v1/iot/halt', { body: { reason } });
    await onSaved();
  };
  return (
    <FormDialog title={t('devices_halt')} action={t('devices_halt')} send={send} onClose={onClose}>
      <p class="small quiet">{t('devices_halt_detail')}</p>
      <TextField label={t('devices_reason')} value={reason} onInput={setReason} required maxLength={500} />
    </FormDialog>
  );
}
