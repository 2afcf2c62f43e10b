/** Name, theme, language and the way out, at the foot of both pages. */
import { useState } from 'preact/hooks';
import { Menu, type MenuItem } from '../design/menu.tsx';
import { showToast } from '../design/toasts.tsx';
import { t } from '../i18n/language.ts';
import { languageItems, themeItems } from './appearance-items.ts';
import { explain } from './explain.ts';
import { OwnKeyDialog, resetOwnKey } from './own-key.tsx';
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
