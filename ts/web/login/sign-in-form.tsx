import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { Button } from '../design/button.tsx';
import { Notice } from '../design/notice.tsx';
import { TextField } from '../design/text-field.tsx';
import { t } from '../i18n/language.ts';
import { useSubmit } from './use-submit.ts';

interface SignInFormProps {
  /** The name of the account that is expected. */
  name?: string;
  onSignedIn(): void | Promise<void>;
}

export function SignInForm({ name = '', onSignedIn }: SignInFormProps) {
  const [username, setUsername] = useState(name);
  const [password, setPassword] = useState('');
  const { isBusy, wrong, code, onSubmit } = useSubmit(async () => {
    await call('POST /api/v1/auth/login', { body: { username, password } });
    await onSignedIn();
  });
  return (
    <form class="stack" onSubmit={onSubmit}>
      {wrong !== undefined && <Notice tone="danger">{code === 'invalid_credential' ? t('wrong_password') : wrong}</Notice>}
      <TextField label={t('username_or_email')} value={username} onInput={setUsername} autocomplete="username" required />
      <TextField
        label={t('password')}
        type="password"
        value={password}
        onInput={setPassword}
        autocomplete="current-password"
        required
      />
      <Button look="main" type="submit" busy={isBusy}>
        {t('sign_in')}
      </Button>
    </form>
  );
}
