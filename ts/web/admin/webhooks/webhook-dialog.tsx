/** Has events posted to an address; the secret that signs them is shown once. */
import { useState } from 'preact/hooks';
import type { Body } from '../../../client/client.ts';
import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { CheckList } from '../../design/check-list.tsx';
import { Notice } from '../../design/notice.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { hasRole } from '../../session/session.ts';
import { FormDialog } from '../form-dialog.tsx';
import { SecretDialog } from '../secret-dialog.tsx';

export type Webhook = Answer<'GET /api/v1/webhooks'>['data'][number];
type Events = Body<'POST /api/v1/webhooks'>['events'];

interface WebhookDialogProps {
  /** Undefined: a new one. */
  webhook: Webhook | undefined;
  onClose(): void;
  onSaved(): Promise<void>;
}

export function WebhookDialog({ webhook, onClose, onSaved }: WebhookDialogProps) {
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [description, setDescription] = useState(webhook?.description ?? '');
  const [chosen, setChosen] = useState<string[]>(webhook?.events ?? []);
  const [secret, setSecret] = useState<string>();
  const events = useData(() => call('GET /api/v1/webhooks/events'));
  const send = async (): Promise<void> => {
    if (chosen.length === 0) throw new Error(t('choose_event'));
    const body = { events: chosen as Events, description };
    if (webhook !== undefined) {
      await call('PATCH /api/v1/webhooks/{id}', { params: { id: webhook.id }, body });
      onClose();
    } else {
      const made = await call('POST /api/v1/webhooks', { body: { ...body, url: url.trim() } });
      setSecret(made.secret);
    }
    await onSaved();
  };
  if (secret !== undefined) {
    return <SecretDialog title={t('webhook_secret')} value={secret} detail={t('webhook_secret_detail')} onClose={onClose} />;
  }
  const offered = (events.data?.data ?? []).filter((event) => !event.needs_superadmin || hasRole('superadmin'));
  return (
    <FormDialog
      title={webhook === undefined ? t('new_webhook') : t('edit')}
      action={t('save')}
      send={send}
      onClose={onClose}
      onSent={() => {}}
    >
      <TextField
        label={t('address')}
        hint={t('webhook_address_hint')}
        type="url"
        value={url}
        onInput={setUrl}
        required
        disabled={webhook !== undefined}
        maxLength={2048}
        placeholder="https://"
      />
      {events.error !== undefined && <Notice tone="danger">{explain(events.error)}</Notice>}
      <TextField label={t('note')} value={description} onInput={setDescription} maxLength={200} />
      <CheckList
        label={t('events')}
        options={offered.map(({ type, description: hint }) => ({ value: type, text: type, hint }))}
        chosen={chosen}
        onChange={setChosen}
      />
    </FormDialog>
  );
}
