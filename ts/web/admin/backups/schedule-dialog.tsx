/** When the node makes backups by itself, and how many it keeps. */
import { useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { FormDialog } from '../form-dialog.tsx';

export type Schedule = Answer<'GET /api/v1/backup/schedule'>;

interface ScheduleDialogProps {
  schedule: Schedule;
  onClose(): void;
  onSaved(): Promise<void>;
}

export function ScheduleDialog({ schedule, onClose, onSaved }: ScheduleDialogProps) {
  const [hours, setHours] = useState(String(schedule.hours));
  const [keep, setKeep] = useState(String(schedule.keep));
  const send = async (): Promise<void> => {
    await call('PUT /api/v1/backup/schedule', { body: { hours: Number(hours), keep: Number(keep) } });
    await onSaved();
  };
  return (
    <FormDialog title={t('backup_schedule')} action={t('save')} send={send} onClose={onClose}>
      <TextField
        label={t('schedule_hours')}
        hint={t('schedule_hours_hint')}
        type="number"
        min={0}
        max={8760}
        step={1}
        value={hours}
        onInput={setHours}
        required
      />
      <TextField
        label={t('schedule_keep')}
        hint={t('schedule_keep_hint')}
        type="number"
        min={0}
        max={10_000}
        step={1}
        value={keep}
        onInput={setKeep}
        required
      />
    </FormDialog>
  );
}
