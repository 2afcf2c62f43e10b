import { useState } from 'preact/hooks';
import { type Answer, addressOf } from '../api/call.ts';
import { Menu } from '../design/menu.tsx';
import { Notice } from '../design/notice.tsx';
import { Tabs } from '../design/tabs.tsx';
import { t } from '../i18n/language.ts';
import { languageItems, themeItems } from '../session/appearance-items.ts';
import { Brand } from '../session/brand.tsx';
import { branding } from '../session/branding.ts';
import { returnPath } from '../session/return-path.ts';
import { RegisterForm } from './register-form.tsx';
import { ResetForm } from './reset-form.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** `methods`: undefined where the server did not say. */
export function LoginPage({ methods }: { methods: Answer<'GET /api/v1/auth/methods'> | undefined }) {
  // A provider's failure comes back in the address; anything may stand there, and only a code is shown.
  const failed = /[?&]error=([a-z_]{1,60})\b/.exec(location.search)?.[1];
  const invitation = /^#invitation=(.+)$/.exec(location.hash)?.[1];
  const resetToken = /^#reset=(.+)$/.exec(location.hash)?.[1];
  const { open = true, first_account: isFirst = false, setup_code_needed: needsCode = false } = methods?.registration ?? {};
  const [view, setView] = useState(
    resetToken !== undefined ? 'reset' : isFirst || invitation !== undefined ? 'register' : 'sign-in',
  );
  const [wasReset, setReset] = useState(false);
  const { welcome } = branding.value;
  const [, redraw] = useState(0);
  const tabs = [
    { id: 'sign-in', text: t('sign_in') },
    ...(open || isFirst || invitation !== undefined ? [{ id: 'register', text: t('create_account') }] : []),
    { id: 'reset', text: t('reset_password') },
  ];
  return (
    <div class="login">
      <main>
        <Brand />
        {welcome !== null && <p class="welcome">{welcome}</p>}
        <h1 class="unseen">{tabs.find(({ id }) => id === view)?.text}</h1>
        <div class="card">
          <Tabs label={t('account')} tabs={tabs} chosen={view} onChoose={setView} />
          {wasReset && view === 'sign-in' && <Notice>{t('password_was_set')}</Notice>}
          {view === 'sign-in' && failed !== undefined && <Notice tone="danger">{t('provider_failed', { code: failed })}</Notice>}
          {view === 'sign-in' && <SignInForm onSignedIn={() => location.assign(returnPath(location.search, location.origin))} />}
          {view === 'sign-in' && methods?.oidc != null && <ProviderLink {...methods.oidc} />}
          {view === 'register' && <RegisterForm isFirst={isFirst} asksCode={needsCode} invitation={invitation} />}
          {view === 'reset' && (
            <ResetForm
              canMail={methods?.reset_mail ?? false}
              token={resetToken}
              onDone={() => {
                setReset(true);
                setView('sign-in');
              }}
            />
          )}
        </div>
      </main>
      <footer>
        <Menu icon="moon" items={themeItems(() => redraw((count) => count + 1))} size="small">
          {t('theme')}
        </Menu>
        <Menu icon="globe" items={languageItems()} size="small">
          {t('language')}
        </Menu>
      </footer>
    </div>
  );
}

/** Sign-in with the provider that the operator configured. */
function ProviderLink({ label, start }: { label: string; start: string }) {
  const address = addressOf(start, { query: { return_to: returnPath(location.search, location.origin) } });
  return (
    <a class="button plain" href={address}>
      {t('sign_in_with', { label })}
    </a>
  );
}
