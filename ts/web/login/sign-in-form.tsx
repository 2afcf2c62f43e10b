import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { Button } from '../design/button.tsx';
import { Notice } from '../design/notice.tsx';
import { TextField } from '../design/text-field.tsx';
import { t } from '../i18n/language.ts';
import { returnPath } from '../session/return-path.ts';
import { useSubmit } from './use-submit.ts';

export function SignInForm() {
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const { isBusy, wrong, code, onSubmit } = useSubmit(async () => {
    await call('POST /api/v1/auth/login', { body: { username, password } });
    location.assign(returnPath(location.search, location.origin));
  });
  return (
    <form onSubmit={onSubmit}>
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
