/** Texts about the nodes of a cluster. */
import type { Texts } from '../../i18n/catalogue.ts';

export const nodes = {
  node_drain: { en: 'Drain', de: 'Leerlaufen lassen' },
  node_drain_detail: {
    en: '{name} gets no new work, once your proxy asks /readyz. What runs goes on.',
    de: '{name} bekommt keine neue Arbeit mehr, sobald Ihr Proxy /readyz fragt. Was läuft, geht weiter.',
  },
  node_draining: { en: 'draining', de: 'läuft leer' },
  node_forget_detail: { en: '{name} leaves the list of nodes.', de: '{name} verschwindet aus der Liste der Knoten.' },
  node_gone: { en: 'gone', de: 'fort' },
  node_leads: { en: 'Leads', de: 'Führt' },
  node_load: { en: 'Load for each core', de: 'Last je Kern' },
  node_ready: { en: 'ready', de: 'bereit' },
  node_replica: { en: 'Copy of the data', de: 'Kopie der Daten' },
  node_resume: { en: 'Take work again', de: 'Wieder Arbeit annehmen' },
  node_seen: { en: 'Last heartbeat', de: 'Letztes Lebenszeichen' },
  node_sync: { en: 'Bring up to date', de: 'Auf den Stand bringen' },
  node_update_later: { en: 'older: update later', de: 'älter: später aktualisieren' },
  node_update_next: { en: 'older: update next', de: 'älter: als Nächstes aktualisieren' },
  node_suspect: { en: 'late', de: 'überfällig' },
  nodes: { en: 'Nodes', de: 'Knoten' },
  nodes_detail: {
    en: 'Nodes that share a PostgreSQL database are one cluster; each can be drained from here.',
    de: 'Knoten mit einer gemeinsamen PostgreSQL-Datenbank sind ein Cluster; jeden kann man von hier aus leerlaufen lassen.',
  },
  replica_behind: { en: 'behind', de: 'im Rückstand' },
  replica_ok: { en: 'up to date', de: 'aktuell' },
  replica_unreachable: { en: 'not reached', de: 'nicht erreichbar' },
} satisfies Texts;
