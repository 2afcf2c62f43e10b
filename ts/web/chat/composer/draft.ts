/** What is being written, kept in the tab so that a reload loses nothing. It is the account's that wrote it, and shown to no other. */
import { effect, signal } from '@preact/signals';
import { isAskedToSignIn } from '../../session/ended-session.ts';
import { accountId } from '../../session/session.ts';

const STORED_AT = 'svc.draft';

export const draft = signal('');
/** A question on its way. While its sender is asked to sign in it is stored with the draft, since a reload would lose it. */
export const sent = signal('');

export function setDraft(text: string): void {
  draft.value = text;
  keep();
}

/** Nothing is stored until it is known who writes, and what was stored waits. */
let restored: string | undefined;
effect(() => {
  const account = accountId();
  if (account === undefined || account === restored) return;
  restored = account;
  const stored = read(account);
  const written = draft.peek();
  if (stored !== '') draft.value = written === '' ? stored : `${stored}\n${written}`;
  keep();
});

effect(() => {
  if (sent.value !== '' && isAskedToSignIn.value) keep([sent.value, draft.peek()].filter((each) => each !== '').join('\n'));
  else if (restored !== undefined) keep();
});

function keep(text = draft.peek()): void {
  const account = accountId();
  if (account !== undefined) sessionStorage.setItem(STORED_AT, JSON.stringify({ account, text }));
}

function read(owner: string): string {
  try {
    const { account, text } = (JSON.parse(sessionStorage.getItem(STORED_AT) ?? '{}') ?? {}) as Record<string, unknown>;
    return account === owner && typeof text === 'string' ? text : '';
  } catch {
    return '';
  }
}
