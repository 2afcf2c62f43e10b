/** Texts of parts that every page uses, in English. */
export const design = {
  actions: 'Actions',
  active: 'active',
  allowed: 'allowed',
  copied: 'Copied',
  copy_failed: 'The browser did not allow copying.',
  disabled: 'disabled',
  off: 'off',
  rows_shown: '{count} shown',
  settings: 'Settings',
  size: 'Size',
} as const;
