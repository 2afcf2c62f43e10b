/** Texts about the reader’s account, in German. */
import type { Translation } from '../catalogue.ts';
import type { account as english } from '../en/account.ts';

export const account: Translation<typeof english> = {
  admin_console: 'Verwaltung',
  no_accounts_yet: 'Noch keine Konten',
  own_key: 'API-Schlüssel',
  own_key_once: 'Dieser Schlüssel wird nur jetzt gezeigt. Bitte dort aufbewahren, wo kein anderer ihn lesen kann.',
  own_key_reset: 'Neuer API-Schlüssel',
  own_key_reset_detail:
    'Das Konto bekommt einen neuen Schlüssel. Hat es schon einen, gilt dieser sofort nicht mehr, und was ihn verwendet, wird abgewiesen.',
  session_ended: 'Deine Sitzung ist beendet',
  session_ended_detail:
    'Melde dich wieder als {name} an: Was du geschrieben hast, bleibt, und was du gesendet hast, geht weiter.',
  sign_in_needed: 'Deine Sitzung ist beendet. Melde dich neu an.',
  sign_out: 'Abmelden',
  theme_contrast: 'Hoher Kontrast',
  theme_dark: 'Dunkel',
  theme_light: 'Hell',
  theme_system: 'Wie das System',
  too_many_attempts: 'Zu viele Versuche. Warte eine Weile und versuch es dann neu.',
};
