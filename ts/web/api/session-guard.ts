/** Who is asked to sign in again when a request finds that the session has ended. The page registers it; before, and on others, nobody is. */
let restore: (() => Promise<boolean>) | undefined;

/** `ask` resolves once the same account is signed in again (true), or will not be. */
export function guardSession(ask: () => Promise<boolean>): void {
  restore = ask;
}

/** True: the request is worth sending again. */
export async function sessionRestored(): Promise<boolean> {
  return (await restore?.()) ?? false;
}
