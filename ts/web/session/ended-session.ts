/** A session that ends while its page is open: the reader signs in beside what is being done, which then goes on. */
import { signal } from '@preact/signals';
import { call, guardSession } from '../api/call.ts';
import { accountId, loadSession } from './session.ts';
import { tellSignOut } from './sign-out-news.ts';

/** The window is open. */
export const isAskedToSignIn = signal(false);
let asking: Promise<boolean> | undefined;
let settle: ((isBack: boolean) => void) | undefined;

export function startSessionGuard(): void {
  guardSession(signInAgain);
  // A provider, or another tab, may have been the place.
  addEventListener('visibilitychange', () => {
    if (!document.hidden && isAskedToSignIn.value) void lookAgain();
  });
}

/** True: the same account is signed in again. Requests that find out together ask once. */
export function signInAgain(): Promise<boolean> {
  asking ??= ask().finally(() => {
    asking = undefined;
  });
  return asking;
}

async function ask(): Promise<boolean> {
  const account = accountId();
  // Nobody was signed in, or the node had no accounts: nothing of theirs could go on.
  if (account === undefined || account === '') return false;
  const now = await accountNow();
  if (now === account) return true;
  if (now !== undefined) return leaveToOther();
  isAskedToSignIn.value = true;
  const isBack = await new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  isAskedToSignIn.value = false;
  return isBack;
}

/** The reader does not sign in now. What was asked for is refused, and says so. */
export function closeSignIn(): void {
  settle?.(false);
}

/** Somebody may have signed in: here, at a provider, in another tab. */
export async function lookAgain(): Promise<void> {
  const now = await accountNow();
  if (now === undefined) return;
  if (now !== accountId()) {
    closeSignIn();
    leaveToOther();
    return;
  }
  // The role may be another one now.
  await loadSession().catch(() => undefined);
  settle?.(true);
}

/** Nothing that the first account wrote or sees is the other one's. */
function leaveToOther(): false {
  tellSignOut();
  location.reload();
  return false;
}

/** Undefined: nobody, or the server does not say. */
async function accountNow(): Promise<string | undefined> {
  const { user } = (await call('GET /api/v1/auth/whoami').catch(() => undefined)) ?? {};
  return user?.id;
}
