/** The client of a page: its own server, the cookie of its session, and a sign-in that a request waits for. */
import { createClient } from '../../client/client.ts';

export { type Answer, addressOf } from '../../client/client.ts';

let restore: (() => Promise<boolean>) | undefined;

/** `ask` resolves once the same account is signed in again (true), or will not be. A page that registers none asks nobody. */
export function guardSession(ask: () => Promise<boolean>): void {
  restore = ask;
}

/** True: the request that found the session ended is worth sending again. */
export async function sessionRestored(): Promise<boolean> {
  return (await restore?.()) ?? false;
}

export const { call, request } = createClient({
  base: '',
  init: { credentials: 'same-origin', cache: 'no-store' },
  headers: () => ({}),
  // What only reads may be asked again by the page itself.
  renew: async (name) => !name.startsWith('GET ') && name !== 'POST /api/v1/auth/login' && (await sessionRestored()),
});
