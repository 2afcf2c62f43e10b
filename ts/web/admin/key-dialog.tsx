/** Makes an API key, for oneself or for another account, and shows it once. */
import { useState } from 'preact/hooks';
import type { Body } from '../../client/client.ts';
import { type Answer, call } from '../api/call.ts';
import { CheckList } from '../design/check-list.tsx';
import { SelectField } from '../design/select-field.tsx';
import { Switch } from '../design/switch.tsx';
import { TextField } from '../design/text-field.tsx';
import { t } from '../i18n/language.ts';
import { who } from '../session/session.ts';
import { FormDialog } from './form-dialog.tsx';
import { SecretDialog } from './secret-dialog.tsx';

type NewKey = Body<'POST /api/v1/identity/keys'>;

const DAY = 24 * 3600;
const LIFETIMES = [30, 90, 365];

interface KeyDialogProps {
  user?: { id: string; username: string };
  onClose(): void;
  onMade?(): Promise<void>;
}

export function KeyDialog({ user, onClose, onMade }: KeyDialogProps) {
  const [name, setName] = useState('');
  const [days, setDays] = useState('');
  const [isNarrow, setNarrow] = useState(false);
  const [scopes, setScopes] = useState<string[]>([]);
  const [issued, setIssued] = useState<Answer<'POST /api/v1/identity/keys'>>();
  const send = async (): Promise<void> => {
    const made = await call('POST /api/v1/identity/keys', {
      body: {
        name,
        expires_in_seconds: days === '' ? undefined : Number(days) * DAY,
        user: user?.id,
        // The caller's own scopes are offered.
        scopes: isNarrow ? (scopes as NewKey['scopes']) : undefined,
      },
    });
    setIssued(made);
    await onMade?.();
  };
  if (issued !== undefined) {
    return (
      <SecretDialog
        title={t('key_made', { name: issued.name })}
        value={issued.api_key}
        example={exampleOf(issued.api_key)}
        onClose={onClose}
      />
    );
  }
  const lifetimes = [
    { value: '', text: t('never_expires') },
    ...LIFETIMES.map((count) => ({ value: String(count), text: t('days', { count }) })),
  ];
  return (
    <FormDialog
      title={user === undefined ? t('new_key') : t('new_key_for', { name: user.username })}
      action={t('create')}
      send={send}
      onClose={onClose}
      onSent={stayForTheKey}
    >
      <TextField label={t('name')} hint={t('key_name_hint')} value={name} onInput={setName} required maxLength={100} />
      <SelectField label={t('expires')} value={days} options={lifetimes} onChange={setDays} />
      <Switch label={t('limit_scopes')} checked={isNarrow} onChange={setNarrow} />
      {isNarrow && (
        <CheckList
          label={t('scopes')}
          options={(who.value?.scopes ?? []).map((scope) => ({ value: scope, text: scope }))}
          chosen={scopes}
          onChange={setScopes}
        />
      )}
    </FormDialog>
  );
}

/** The key is shown in the place of the form. */
function stayForTheKey(): void {}

function exampleOf(key: string): string {
  return `curl ${location.origin}/v1/models -H 'X-API-Key: ${key}'`;
}
