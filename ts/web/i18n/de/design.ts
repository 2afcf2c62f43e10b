/** Texts of parts that every page uses, in German. */
import type { Translation } from '../catalogue.ts';
import type { design as english } from '../en/design.ts';

export const design: Translation<typeof english> = {
  actions: 'Aktionen',
  active: 'aktiv',
  allowed: 'erlaubt',
  copied: 'Kopiert',
  copy_failed: 'Der Browser hat das Kopieren nicht erlaubt.',
  disabled: 'gesperrt',
  off: 'aus',
  rows_shown: '{count} gezeigt',
  settings: 'Einstellungen',
  size: 'Größe',
};
