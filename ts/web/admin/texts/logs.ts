/** Texts about collected lines. */
import type { Texts } from '../../i18n/catalogue.ts';

export const logs = {
  logs: { en: 'Logs', de: 'Protokolle' },
  logs_all_severities: { en: 'All', de: 'Alle' },
  logs_archived: {
    en: 'Lines of the class firewall_allowed are kept in the files of both copies alone.',
    de: 'Zeilen der Klasse firewall_allowed liegen nur in den Dateien beider Kopien.',
  },
  logs_class: { en: 'Class', de: 'Klasse' },
  logs_detail: {
    en: 'Collected lines of the network. Secrets are masked.',
    de: 'Gesammelte Zeilen des Netzes. Geheimnisse sind verdeckt.',
  },
  logs_histogram: { en: 'Lines over time', de: 'Zeilen über die Zeit' },
  logs_histogram_bar: { en: '{count} lines from {time}', de: '{count} Zeilen ab {time}' },
  logs_missed: {
    en: '{count} lines came too fast and were left out.',
    de: '{count} Zeilen kamen zu schnell und wurden ausgelassen.',
  },
  logs_none: { en: 'No lines', de: 'Keine Zeilen' },
  logs_none_detail: { en: 'Choose a longer time, or fewer words.', de: 'Wählen Sie eine längere Zeit oder weniger Wörter.' },
  logs_partial: {
    en: 'Not everything could be read in time. Choose a shorter time, or more words.',
    de: 'Nicht alles konnte rechtzeitig gelesen werden. Wählen Sie eine kürzere Zeit oder mehr Wörter.',
  },
  logs_query_hint: {
    en: 'Words, "phrases", -without, prefix*, host:, app:, ip:, class:, severity:',
    de: 'Wörter, "Sätze", -ohne, Anfang*, host:, app:, ip:, class:, severity:',
  },
  logs_sender: { en: 'Host and program', de: 'Rechner und Programm' },
  logs_severity_0: { en: 'emergency', de: 'Notfall' },
  logs_severity_1: { en: 'alert', de: 'Alarm' },
  logs_severity_2: { en: 'critical', de: 'kritisch' },
  logs_severity_3: { en: 'error', de: 'Fehler' },
  logs_severity_4: { en: 'warning', de: 'Warnung' },
  logs_severity_5: { en: 'notice', de: 'Hinweis' },
  logs_severity_6: { en: 'information', de: 'Information' },
  logs_severity_7: { en: 'debugging', de: 'Fehlersuche' },
  logs_time: { en: 'Time', de: 'Zeit' },
  logs_time_1d: { en: 'Last day', de: 'Letzter Tag' },
  logs_time_15m: { en: 'Last 15 minutes', de: 'Letzte 15 Minuten' },
  logs_time_1h: { en: 'Last hour', de: 'Letzte Stunde' },
  logs_time_30d: { en: 'Last 30 days', de: 'Letzte 30 Tage' },
  logs_time_7d: { en: 'Last 7 days', de: 'Letzte 7 Tage' },
} satisfies Texts;
