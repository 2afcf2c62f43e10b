/** Who uses the page. The browser keeps the session in a cookie that no script can read. */
import { signal } from '@preact/signals';
import { Refusal } from '../../client/refusal.ts';
import { type Answer, call } from '../api/call.ts';
import { loadBranding } from './branding.ts';
import { tellSignOut } from './sign-out-news.ts';

type Who = Answer<'GET /api/v1/auth/whoami'>;
export type Role = 'viewer' | 'developer' | 'admin' | 'superadmin';

const AFTER_FIRST_DRAWING_MS = 300;
const RANK: readonly Role[] = ['viewer', 'developer', 'admin', 'superadmin'];

/** Undefined: nobody is signed in. Of kind `anonymous`: the node has no accounts yet. */
export const who = signal<Who | undefined>(undefined);

/** Throws Refusal when the server does not answer. */
export async function loadSession(): Promise<Who | undefined> {
  try {
    who.value = await call('GET /api/v1/auth/whoami');
    const { tenant } = who.value;
    // What the browser kept is shown meanwhile; the page comes first.
    setTimeout(() => void loadBranding(tenant), AFTER_FIRST_DRAWING_MS);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 401) throw error;
    who.value = undefined;
  }
  return who.value;
}

/** What the browser keeps of an account is kept under this. Empty while the node has no accounts; undefined: nobody is signed in. */
export function accountId(): string | undefined {
  return who.value === undefined ? undefined : (who.value.user?.id ?? '');
}

/** While the node has no accounts, its machine may do everything; what it may not, the server refuses. */
export function hasRole(least: Role): boolean {
  const caller = who.value;
  if (caller === undefined) return false;
  if (caller.kind === 'anonymous') return true;
  return RANK.indexOf(caller.role ?? 'viewer') >= RANK.indexOf(least);
}

/** Ends the own session alone; others of the account go on. */
export async function signOut(): Promise<void> {
  const { data } = await call('GET /api/v1/users/me/sessions');
  const own = data.find(({ current }) => current);
  if (own !== undefined) await call('DELETE /api/v1/users/me/sessions/{id}', { params: { id: own.id } });
  tellSignOut();
  location.assign('/login');
}

/** The form comes back here. */
export function goToSignIn(): void {
  location.assign(`/login?next=${encodeURIComponent(location.pathname + location.hash)}`);
}
