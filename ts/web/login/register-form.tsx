/** Makes an account for oneself. The first one of the installation owns it, and the form says so. */
import { useState } from 'preact/hooks';
import { request } from '../api/call.ts';
import { Button } from '../design/button.tsx';
import { Notice } from '../design/notice.tsx';
import { TextField } from '../design/text-field.tsx';
import { t } from '../i18n/language.ts';
import { returnPath } from '../session/return-path.ts';
import { useSubmit } from './use-submit.ts';

interface RegisterFormProps {
  isFirst: boolean;
  /** The first account needs the code of the log, since the page was not opened on the machine itself. */
  asksCode: boolean;
  invitation: string | undefined;
}

export function RegisterForm({ isFirst, asksCode, invitation }: RegisterFormProps) {
  const [username, setUsername] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [setupCode, setSetupCode] = useState('');
  const { isBusy, wrong, code, onSubmit } = useSubmit(async () => {
    const body = { username, password, email: email || undefined, invitation };
    const headers: Record<string, string> = setupCode === '' ? {} : { 'x-svc-setup-code': setupCode.trim() };
    await request('POST /api/v1/auth/register', { body, headers });
    location.assign(returnPath(location.search, location.origin));
  });
  const needsCode = asksCode || code === 'setup_code_needed' || setupCode !== '';
  return (
    <form onSubmit={onSubmit}>
      {isFirst && <Notice>{t('first_account')}</Notice>}
      {invitation !== undefined && <Notice>{t('invited')}</Notice>}
      {wrong !== undefined && <Notice tone="danger">{code === 'setup_code_needed' ? t('setup_code_needed') : wrong}</Notice>}
      <TextField label={t('username')} value={username} onInput={setUsername} autocomplete="username" required maxLength={64} />
      <TextField label={t('email_optional')} type="email" value={email} onInput={setEmail} autocomplete="email" />
      <TextField
        label={t('password')}
        hint={t('password_rule')}
        type="password"
        value={password}
        onInput={setPassword}
        autocomplete="new-password"
        required
        minLength={8}
      />
      {needsCode && <TextField label={t('setup_code')} hint={t('setup_code_hint')} value={setupCode} onInput={setSetupCode} />}
      <Button look="main" type="submit" busy={isBusy}>
        {t('create_account')}
      </Button>
    </form>
  );
}
