/** Texts about keys and sessions. */
import type { Texts } from '../../i18n/catalogue.ts';

export const keys = {
  api_keys_detail: {
    en: 'Programs use a key in place of a password. It is shown once, when it is made.',
    de: 'Programme nutzen einen Schlüssel statt eines Passworts. Er wird einmal gezeigt, wenn er entsteht.',
  },
  browser: { en: 'Browser', de: 'Browser' },
  components: { en: 'Design system', de: 'Gestaltung' },
  components_detail: { en: 'Every part of the pages in every state.', de: 'Jeder Baustein der Seiten in jedem Zustand.' },
  days: { en: '{count} days', de: '{count} Tage' },
  end: { en: 'End', de: 'Beenden' },
  end_all: { en: 'End all', de: 'Alle beenden' },
  key_made: { en: 'Key {name}', de: 'Schlüssel {name}' },
  key_name_hint: { en: 'What it is for, so that you know it again', de: 'Wofür er ist, damit du ihn wiedererkennst' },
  limit_scopes: { en: 'Limit what the key may do', de: 'Begrenzen, was der Schlüssel darf' },
  never_expires: { en: 'Never', de: 'Nie' },
  new_key_for: { en: 'New key for {name}', de: 'Neuer Schlüssel für {name}' },
  no_sessions: { en: 'No sessions', de: 'Keine Sitzungen' },
  own_account: { en: 'Your own', de: 'Das eigene' },
  sessions: { en: 'Sessions', de: 'Sitzungen' },
  sessions_detail: {
    en: 'Browsers that are signed in, to your account or another one that you administer.',
    de: 'Browser, die angemeldet sind: beim eigenen Konto oder einem, das du verwaltest.',
  },
  sessions_ended: { en: 'All sessions of the account have ended.', de: 'Alle Sitzungen des Kontos sind beendet.' },
  this_one: { en: 'this one', de: 'diese' },
} satisfies Texts;
