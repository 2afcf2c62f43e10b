/** Texts about the reader’s account, in English. */
export const account = {
  admin_console: 'Admin console',
  no_accounts_yet: 'No accounts yet',
  own_key: 'Your API key',
  own_key_once: 'This key is shown this once. Keep it where only you can read it.',
  own_key_reset: 'New API key',
  own_key_reset_detail: 'Your account gets a new key. If it has one, that one stops at once, and whatever uses it is refused.',
  session_ended: 'Your session has ended',
  session_ended_detail: 'Sign in as {name} again: what you wrote stays, and what was sent goes on.',
  sign_in_needed: 'Your session has ended. Sign in again.',
  sign_out: 'Sign out',
  theme_contrast: 'High contrast',
  theme_dark: 'Dark',
  theme_light: 'Light',
  theme_system: 'As the system',
  too_many_attempts: 'Too many attempts. Wait a while, then try again.',
} as const;
