/** Texts of the frame around the screens, in German. */
import type { Translation } from '../../../i18n/catalogue.ts';
import type { frame as english } from '../en/frame.ts';

export const frame: Translation<typeof english> = {
  console_needs_sign_in: 'Die Verwaltung verlangt eine Anmeldung',
  group_control: 'Sicherheit und Anbindung',
  group_node: 'Knoten',
  group_own: 'Du',
  group_people: 'Personen',
  navigation: 'Navigation',
  reload_page: 'Seite neu laden',
  screen_missing:
    'Diese Ansicht ließ sich nicht holen. Vielleicht wurde der Server aktualisiert, seit die Seite offen ist, oder er ist nicht erreichbar: lade die Seite neu.',
  shown_once: 'Jetzt kopieren: es wird nicht wieder gezeigt.',
  skip_to_content: 'Zum Inhalt',
};
