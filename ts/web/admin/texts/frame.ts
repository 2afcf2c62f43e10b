/** Texts of the frame around the screens. */
import type { Texts } from '../../i18n/catalogue.ts';

export const frame = {
  console_needs_sign_in: { en: 'The console needs you to sign in', de: 'Die Verwaltung verlangt eine Anmeldung' },
  group_control: { en: 'Security and integration', de: 'Sicherheit und Anbindung' },
  group_node: { en: 'Node', de: 'Knoten' },
  group_own: { en: 'You', de: 'Du' },
  group_people: { en: 'People', de: 'Personen' },
  navigation: { en: 'Navigation', de: 'Navigation' },
  reload_page: { en: 'Load the page anew', de: 'Seite neu laden' },
  screen_missing: {
    en: 'This screen could not be fetched. The server may have been updated since the page was opened, or is out of reach: load the page anew.',
    de: 'Diese Ansicht ließ sich nicht holen. Vielleicht wurde der Server aktualisiert, seit die Seite offen ist, oder er ist nicht erreichbar: lade die Seite neu.',
  },
  shown_once: { en: 'Copy it now: it is not shown again.', de: 'Jetzt kopieren: es wird nicht wieder gezeigt.' },
  skip_to_content: { en: 'Skip to the content', de: 'Zum Inhalt' },
} satisfies Texts;
