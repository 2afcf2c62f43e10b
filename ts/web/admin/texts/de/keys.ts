/** Texts about keys and sessions, in German. */
import type { Translation } from '../../../i18n/catalogue.ts';
import type { keys as english } from '../en/keys.ts';

export const keys: Translation<typeof english> = {
  api_keys_detail: 'Programme nutzen einen Schlüssel statt eines Passworts. Er wird einmal gezeigt, wenn er entsteht.',
  browser: 'Browser',
  components: 'Gestaltung',
  components_detail: 'Jeder Baustein der Seiten in jedem Zustand.',
  days: '{count} Tage',
  end: 'Beenden',
  end_all: 'Alle beenden',
  key_made: 'Schlüssel {name}',
  key_name_hint: 'Wofür er ist, damit du ihn wiedererkennst',
  limit_scopes: 'Begrenzen, was der Schlüssel darf',
  never_expires: 'Nie',
  new_key_for: 'Neuer Schlüssel für {name}',
  no_sessions: 'Keine Sitzungen',
  own_account: 'Das eigene',
  sessions: 'Sitzungen',
  sessions_detail: 'Browser, die angemeldet sind: beim eigenen Konto oder einem, das du verwaltest.',
  sessions_ended: 'Alle Sitzungen des Kontos sind beendet.',
  this_one: 'diese',
};
