/** Adds a device by its profile, which begins as one that needs no hardware. */
import { useState } from 'preact/hooks';
import type { Body } from '../../../client/client.ts';
import { call } from '../../api/call.ts';
import { TextArea } from '../../design/text-area.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { FormDialog } from '../form-dialog.tsx';

const EXAMPLE = {
  name: 'Simulated greenhouse',
  kind: 'simulated',
  connection: {},
  variables: [
    { name: 'temperature', unit: 'Cel', type: 'number', access: 'read', read: { start: 20, amplitude: 2 } },
    { name: 'setpoint', unit: 'Cel', type: 'number', access: 'read_write', min: 5, max: 30, step: 0.5, approval: 'none' },
  ],
};
const ROWS = 18;

export function ProfileDialog({ onClose, onSaved }: { onClose(): void; onSaved(): Promise<void> }) {
  const [profile, setProfile] = useState(JSON.stringify(EXAMPLE, null, 2));
  const [key, setKey] = useState('');
  const send = async (): Promise<void> => {
    const body = { ...(JSON.parse(profile) as Body<'POST /api/v1/iot/devices'>), ...(key !== '' && { key }) };
    await call('POST /api/v1/iot/devices', { body });
    await onSaved();
  };
  return (
    <FormDialog title={t('add_device')} action={t('add_device')} send={send} onClose={onClose}>
      <TextArea
        label={t('device_profile')}
        hint={t('device_profile_hint')}
        value={profile}
        rows={ROWS}
        isCode
        required
        onInput={setProfile}
      />
      <TextField
        label={t('device_key')}
        hint={t('device_key_hint')}
        type="password"
        value={key}
        onInput={setKey}
        maxLength={500}
      />
    </FormDialog>
  );
}
