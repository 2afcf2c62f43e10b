/** Draws a page: theme and language first, then the page into #page. */
import '../design/tokens.css';
import '../design/base.css';
import '../design/components.css';
import '../session/session.css';
import '../design/forced-colors.css';
import { type ComponentChild, render } from 'preact';
import { ConfirmDialog } from '../design/confirm.tsx';
import { lazy } from '../design/lazy.tsx';
import { keepTheme } from '../design/theme.ts';
import { Toasts } from '../design/toasts.tsx';
import { loadLanguage, type OwnTexts } from '../i18n/language.ts';
import { restoreBranding } from './branding.ts';
import { isAskedToSignIn, startSessionGuard } from './ended-session.ts';

const SignInDialog = lazy(async () => (await import('../login/sign-in-dialog.tsx')).SignInDialog);

/** `texts`: those that this page alone shows. */
export async function startPage(page: () => ComponentChild, texts?: OwnTexts): Promise<void> {
  keepTheme();
  startSessionGuard();
  restoreBranding();
  await loadLanguage(texts);
  const root = document.getElementById('page');
  if (root === null) throw new Error('the page has no element #page');
  render(
    <>
      {page()}
      <ConfirmDialog />
      <Toasts />
      <SignInAgain />
    </>,
    root,
  );
}

function SignInAgain() {
  return isAskedToSignIn.value ? <SignInDialog /> : null;
}
