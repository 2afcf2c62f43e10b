/** Sends a test message over an account, and shows what became of it; one whose outcome nobody knows is sent again from here. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { SentBadge } from '../../design/sent-badge.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { attempt } from '../attempt.ts';

interface SendDialogProps {
  account: { id: string; name: string };
  onClose(): void;
}

const EVERY_MS = 1_000;

export function SendDialog({ account: { id, name }, onClose }: SendDialogProps) {
  const [to, setTo] = useState('');
  const [message, setMessage] = useState<string>();
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    await attempt(async () => {
      const body = to === '' ? {} : { to };
      const sent = await call('POST /api/v1/comm/accounts/{id}/test', { params: { id }, body });
      setMessage(sent.id);
    });
  };
  return (
    <Dialog title={name} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void send(event)}>
        <TextField label={t('message_to')} hint={t('message_to_hint')} value={to} onInput={setTo} maxLength={300} />
        <Button look="main" type="submit">
          {t('message_test')}
        </Button>
      </form>
      {message !== undefined && <MessageState key={message} id={message} />}
    </Dialog>
  );
}

function MessageState({ id }: { id: string }) {
  const { data, reload } = useData(() => call('GET /api/v1/comm/messages/{id}', { params: { id } }), [id], EVERY_MS);
  if (data === undefined) return <span class="spinner" role="status" aria-label={t('loading')} />;
  const resend = async (): Promise<void> => {
    if (!(await confirmed(t('message_resend'), t('message_resend_detail'), t('message_resend')))) return;
    await attempt(() => call('POST /api/v1/comm/messages/{id}/resend', { params: { id } }));
    await reload();
  };
  return (
    <p class="row" role="status">
      <SentBadge state={data.state} />
      {data.reason !== null && <span class="small quiet breakable">{data.reason}</span>}
      {data.state === 'outcome_unknown' && (
        <Button size="small" onClick={() => void resend()}>
          {t('message_resend')}
        </Button>
      )}
    </p>
  );
}
