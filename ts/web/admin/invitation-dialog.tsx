/** Makes a link with which people make their accounts themselves. */
import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { SelectField } from '../design/select-field.tsx';
import { TextField } from '../design/text-field.tsx';
import { t } from '../i18n/language.ts';
import type { Role } from '../session/session.ts';
import { FormDialog } from './form-dialog.tsx';
import { givenRoleOptions } from './role-name.ts';
import { SecretDialog } from './secret-dialog.tsx';

export function InvitationDialog({ onClose, onMade }: { onClose(): void; onMade(): Promise<void> }) {
  const [note, setNote] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const [uses, setUses] = useState('1');
  const [link, setLink] = useState<string>();
  const send = async (): Promise<void> => {
    const made = await call('POST /api/v1/identity/invitations', { body: { note, role, max_uses: Number(uses) } });
    setLink(location.origin + made.link);
    await onMade();
  };
  if (link !== undefined) {
    return <SecretDialog title={t('new_invitation')} value={link} detail={t('invitation_link_detail')} onClose={onClose} />;
  }
  return (
    <FormDialog title={t('new_invitation')} action={t('create')} send={send} onClose={onClose} onSent={() => {}}>
      <TextField label={t('note')} hint={t('note_hint')} value={note} onInput={setNote} maxLength={200} />
      <SelectField label={t('role')} value={role} options={givenRoleOptions()} onChange={setRole} />
      <TextField label={t('uses')} type="number" min={1} step={1} value={uses} onInput={setUses} required />
    </FormDialog>
  );
}
