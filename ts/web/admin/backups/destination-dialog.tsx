/** Another folder for backups. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { FormDialog } from '../form-dialog.tsx';

export function DestinationDialog({
  folder: given,
  onClose,
  onSaved,
}: {
  folder: string;
  onClose(): void;
  onSaved(): Promise<void>;
}) {
  const [folder, setFolder] = useState(given);
  const send = async (): Promise<void> => {
    await call('PUT /api/v1/backup/destination', { body: { folder: folder.trim() } });
    await onSaved();
  };
  return (
    <FormDialog title={t('backup_destination')} action={t('save')} send={send} onClose={onClose}>
      <TextField label={t('folder')} hint={t('folder_hint')} value={folder} onInput={setFolder} required maxLength={4096} />
    </FormDialog>
  );
}
