/** Texts about syslog servers. */
import type { Texts } from '../../i18n/catalogue.ts';

export const forwarding = {
  forwarding: { en: 'Forwarding', de: 'Weiterleitung' },
  forwarding_detail: {
    en: 'Log lines of this node, sent to a syslog server. Nothing waits for it.',
    de: 'Protokollzeilen dieses Knotens, an einen Syslog-Server gesendet. Nichts wartet darauf.',
  },
  new_syslog_route: { en: 'New route', de: 'Neuer Weg' },
  no_syslog_route_detail: {
    en: 'Name one to get the lines of your requests and jobs.',
    de: 'Einen nennen, um die Zeilen der eigenen Anfragen und Aufträge zu bekommen.',
  },
  no_syslog_server: { en: 'No syslog server', de: 'Kein Syslog-Server' },
  no_syslog_server_detail: {
    en: 'Name one, here or with SVC_SYSLOG_HOST.',
    de: 'Einen nennen, hier oder mit SVC_SYSLOG_HOST.',
  },
  syslog_clear: { en: 'Back to the environment', de: 'Zurück zur Umgebung' },
  syslog_clear_detail: {
    en: 'What was saved is forgotten, and what the environment of the node says holds at once. Tenants keep their routes.',
    de: 'Gespeichertes wird vergessen, und sofort gilt, was die Umgebung des Knotens sagt. Mandanten behalten ihre Wege.',
  },
  syslog_dropped: { en: 'Dropped', de: 'Verworfen' },
  syslog_facility: { en: 'Facility', de: 'Facility' },
  syslog_facility_hint: { en: '0 to 23; 16 is local0', de: '0 bis 23; 16 ist local0' },
  syslog_host: { en: 'Host', de: 'Host' },
  syslog_host_hint: { en: 'A name or an address, without the port', de: 'Ein Name oder eine Adresse, ohne den Port' },
  syslog_last_error: { en: 'Last error', de: 'Letzter Fehler' },
  syslog_last_sent: { en: 'Last sent', de: 'Zuletzt gesendet' },
  syslog_port: { en: 'Port', de: 'Port' },
  syslog_protocol: { en: 'Protocol', de: 'Protokoll' },
  syslog_protocol_hint: {
    en: 'TLS uses the certificates that the operator of the node named',
    de: 'TLS benutzt die Zertifikate, die der Betreiber des Knotens genannt hat',
  },
  syslog_queued: { en: 'Waiting', de: 'Wartend' },
  syslog_remove_route: { en: 'Remove route', de: 'Weg entfernen' },
  syslog_remove_route_detail: {
    en: 'Lines of {tenant} then go to the node’s server alone.',
    de: 'Zeilen von {tenant} gehen dann nur noch an den Server des Knotens.',
  },
  syslog_routes: { en: 'Routes of tenants', de: 'Wege von Mandanten' },
  syslog_routes_detail: {
    en: 'Lines of a tenant’s requests and jobs go to its own server as well, and nobody else’s do.',
    de: 'Zeilen der Anfragen und Aufträge eines Mandanten gehen auch an seinen eigenen Server, und keine anderen.',
  },
  syslog_sent: { en: 'Sent', de: 'Gesendet' },
  syslog_server: { en: 'Syslog server', de: 'Syslog-Server' },
  syslog_set: { en: 'Set the server', de: 'Server setzen' },
  syslog_source: { en: 'Set by', de: 'Gesetzt durch' },
  syslog_source_environment: { en: 'the environment', de: 'die Umgebung' },
  syslog_source_saved: { en: 'what was saved', de: 'Gespeichertes' },
  syslog_state: { en: 'Sends', de: 'Sendet' },
  syslog_test: { en: 'Send a test line', de: 'Testzeile senden' },
  syslog_test_failed: { en: '{destination}: {error}', de: '{destination}: {error}' },
  syslog_test_sent: { en: 'A test line was sent to {destination}', de: 'Eine Testzeile ging an {destination}' },
} satisfies Texts;
