/** Texts about the collection of logs. */
import type { Texts } from '../../i18n/catalogue.ts';

export const collection = {
  collection: { en: 'Collection', de: 'Sammlung' },
  collection_applied: { en: 'Lines arrive through {count} listeners', de: 'Zeilen kommen über {count} Empfänger an' },
  collection_apply: { en: 'Save and apply', de: 'Speichern und anwenden' },
  collection_config: { en: 'Configuration', de: 'Konfiguration' },
  collection_config_hint: {
    en: 'JSON with listen, allowed_networks, sources, classes, copies and retention. A line through every listener must arrive, else what was in force stays.',
    de: 'JSON mit listen, allowed_networks, sources, classes, copies und retention. Durch jeden Empfänger muss eine Zeile ankommen, sonst bleibt, was galt.',
  },
  collection_copies: { en: 'Copies', de: 'Kopien' },
  collection_detail: {
    en: 'Log lines of a network, received by rsyslog and kept in two copies.',
    de: 'Protokollzeilen eines Netzes, von rsyslog empfangen und in zwei Kopien gehalten.',
  },
  collection_differs: { en: 'the copies differ', de: 'die Kopien weichen ab' },
  collection_free: { en: 'Free', de: 'Frei' },
  collection_in_step: { en: 'in step', de: 'im Gleichstand' },
  collection_last_write: { en: 'Last write', de: 'Zuletzt geschrieben' },
  collection_missing: { en: 'Missing lines', de: 'Fehlende Zeilen' },
  collection_no_json: { en: 'This is no JSON.', de: 'Das ist kein JSON.' },
  collection_repair: { en: 'Repair now', de: 'Jetzt reparieren' },
  collection_repaired: {
    en: '{files} files and {lines} lines were put back',
    de: '{files} Dateien und {lines} Zeilen wurden ergänzt',
  },
  collection_state_missing: { en: 'rsyslog is not installed', de: 'rsyslog ist nicht installiert' },
  collection_state_running: { en: 'rsyslog running', de: 'rsyslog läuft' },
  collection_state_stopped: { en: 'rsyslog stopped', de: 'rsyslog steht' },
} satisfies Texts;
