/** Sets a new password with a token, which comes by e-mail or from an administrator. */
import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { Button } from '../design/button.tsx';
import { Notice } from '../design/notice.tsx';
import { TextField } from '../design/text-field.tsx';
import { t } from '../i18n/language.ts';
import { useSubmit } from './use-submit.ts';

interface ResetFormProps {
  /** Whether the node sends tokens by e-mail. */
  canMail: boolean;
  /** The token of the link in such a message. */
  token: string | undefined;
  onDone(): void;
}

export function ResetForm({ canMail, token: given, onDone }: ResetFormProps) {
  const [token, setToken] = useState(given ?? '');
  const [password, setPassword] = useState('');
  const { isBusy, wrong, onSubmit } = useSubmit(async () => {
    await call('POST /api/v1/auth/reset-password', { body: { token: token.trim(), password } });
    // The token has been used: it need not stay in the address.
    if (given !== undefined) history.replaceState(null, '', location.pathname + location.search);
    onDone();
  });
  return (
    <>
      {canMail && given === undefined && <MailForm />}
      <form onSubmit={onSubmit}>
        {wrong !== undefined && <Notice tone="danger">{wrong}</Notice>}
        <TextField
          label={t('reset_token')}
          hint={canMail ? t('reset_token_mail_hint') : t('reset_token_hint')}
          value={token}
          onInput={setToken}
          autocomplete="one-time-code"
          required
        />
        <TextField
          label={t('new_password')}
          hint={t('password_rule')}
          type="password"
          value={password}
          onInput={setPassword}
          autocomplete="new-password"
          required
          minLength={8}
        />
        <Button look="main" type="submit" busy={isBusy}>
          {t('set_password')}
        </Button>
      </form>
    </>
  );
}

/** The answer is the same whether there is such an account or not, and so is what the page says. */
function MailForm() {
  const [username, setUsername] = useState('');
  const [wasSent, setSent] = useState(false);
  const { isBusy, wrong, onSubmit } = useSubmit(async () => {
    await call('POST /api/v1/auth/reset-password/request', { body: { username: username.trim() } });
    setSent(true);
  });
  return (
    <form class="apart" onSubmit={onSubmit}>
      {wrong !== undefined && <Notice tone="danger">{wrong}</Notice>}
      {wasSent && <Notice>{t('reset_mail_sent')}</Notice>}
      <TextField
        label={t('username_or_email')}
        value={username}
        onInput={setUsername}
        autocomplete="username"
        required
        maxLength={256}
      />
      <Button look="plain" type="submit" busy={isBusy}>
        {t('send_reset_mail')}
      </Button>
    </form>
  );
}
