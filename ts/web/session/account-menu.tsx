/** Name, theme, language and the way out, at the foot of both pages. */

import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { confirmed } from '../design/confirm.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Menu, type MenuItem } from '../design/menu.tsx';
import { Notice } from '../design/notice.tsx';
import { Secret } from '../design/secret.tsx';
import { showToast } from '../design/toasts.tsx';
import { t } from '../i18n/language.ts';
import { languageItems, themeItems } from './appearance-items.ts';
import { explain } from './explain.ts';
import { hasRole, signOut, who } from './session.ts';

/** `items`: what the page adds at the top. */
export function AccountMenu({ items = [] }: { items?: readonly MenuItem[] }) {
  const [, redraw] = useState(0);
  const user = who.value?.user;
  const isChat = location.pathname === '/chat';
  const other: MenuItem = isChat
    ? { text: t('admin_console'), icon: 'gauge', run: () => location.assign('/admin') }
    : { text: t('chat'), icon: 'chat', run: () => location.assign('/chat') };
  const all: MenuItem[] = [
    ...items,
    ...(isChat && !hasRole('admin') ? [] : [other]),
    ...themeItems(() => redraw((count) => count + 1)),
    ...languageItems(),
    ...(user == null ? [] : [{ text: t('own_key_reset'), icon: 'key', isApart: true, run: () => attempt(resetOwnKey) } as const]),
    user == null
      ? { text: t('sign_in'), icon: 'user', isApart: true, run: () => location.assign('/login') }
      : {
          text: t('sign_out'),
          icon: 'signout',
          isApart: true,
          run: () => attempt(signOut),
        },
  ];
  return (
    <>
      <Menu items={all} icon="user" class="account">
        <span class="account-name">{user?.username ?? (who.value === undefined ? '' : t('no_accounts_yet'))}</span>
      </Menu>
      <OwnKeyDialog />
    </>
  );
}

function attempt(work: () => Promise<void>): void {
  work().catch((error: unknown) => showToast(explain(error)));
}

const newKey = signal<string | undefined>(undefined);

/** Throws Refusal: `several_keys` where the account has more than one, each with its place in the console. */
async function resetOwnKey(): Promise<void> {
  if (!(await confirmed(t('own_key_reset'), t('own_key_reset_detail'), t('own_key_reset')))) return;
  newKey.value = (await call('POST /api/v1/users/me/api-key')).api_key;
}

/** Makes the reader's API key anew, and shows it this once. */
function OwnKeyDialog() {
  if (newKey.value === undefined) return null;
  return (
    <Dialog title={t('own_key')} onClose={() => (newKey.value = undefined)} closesOutside={false}>
      <Notice tone="warn">{t('own_key_once')}</Notice>
      <Secret value={newKey.value} />
    </Dialog>
  );
}
