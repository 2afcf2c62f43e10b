/** Texts about the reader’s account, in English. */
export const account = {
  admin_console: 'Admin console',
  no_accounts_yet: 'No accounts yet',
  sign_in_needed: 'Your session has ended. Sign in again.',
  sign_out: 'Sign out',
  theme_contrast: 'High contrast',
  theme_dark: 'Dark',
  theme_light: 'Light',
  theme_system: 'As the system',
  too_many_attempts: 'Too many attempts. Wait a while, then try again.',
} as const;
