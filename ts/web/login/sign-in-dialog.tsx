/** Sign-in over the page whose session has ended. */
import { useEffect, useState } from 'preact/hooks';
import { type Answer, addressOf, call } from '../api/call.ts';
import { Dialog } from '../design/dialog.tsx';
import { t } from '../i18n/language.ts';
import { closeSignIn, lookAgain } from '../session/ended-session.ts';
import { who } from '../session/session.ts';
import { SignInForm } from './sign-in-form.tsx';

export function SignInDialog() {
  const [methods, setMethods] = useState<Answer<'GET /api/v1/auth/methods'> | undefined>();
  useEffect(() => {
    // The form stands alone where there is no answer.
    call('GET /api/v1/auth/methods').then(setMethods, () => undefined);
  }, []);
  const name = who.value?.user?.username ?? '';
  const { oidc } = methods ?? {};
  return (
    <Dialog title={t('session_ended')} closesOutside={false} onClose={closeSignIn}>
      <div class="stack">
        <p class="small quiet">{t('session_ended_detail', { name })}</p>
        <SignInForm name={name} onSignedIn={lookAgain} />
        {oidc != null && (
          <a
            class="button plain"
            href={addressOf(oidc.start, { query: { return_to: location.pathname } })}
            target="_blank"
            rel="noopener"
          >
            {t('sign_in_with', { label: oidc.label })}
          </a>
        )}
      </div>
    </Dialog>
  );
}
