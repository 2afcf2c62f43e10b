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
  shown_once: 'Jetzt kopieren: es wird nicht wieder gezeigt.',
  skip_to_content: 'Zum Inhalt',
};
