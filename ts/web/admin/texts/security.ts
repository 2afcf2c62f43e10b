/** Texts about enforcement and the audit log. */
import type { Texts } from '../../i18n/catalogue.ts';

export const security = {
  action: { en: 'Action', de: 'Aktion' },
  actor: { en: 'By', de: 'Von' },
  audit_broken: {
    en: 'The log is not what was written, from entry {seq} on.',
    de: 'Das Protokoll ist ab Eintrag {seq} nicht mehr, was geschrieben wurde.',
  },
  audit_detail: {
    en: 'Each entry carries the hash of the one before, so that a change shows.',
    de: 'Jeder Eintrag trägt die Prüfsumme des vorigen, damit eine Änderung auffällt.',
  },
  audit_holds: {
    en: 'All {count} entries are as they were written.',
    de: 'Alle {count} Einträge sind, wie sie geschrieben wurden.',
  },
  audit_line: { en: 'Entry {seq}', de: 'Eintrag {seq}' },
  audit_log: { en: 'Audit log', de: 'Prüfprotokoll' },
  audit_search_hint: {
    en: 'Words in who, what, to what, from where or the details',
    de: 'Wörter in wer, was, woran, woher oder den Einzelheiten',
  },
  decisions: { en: 'What was denied, or would have been', de: 'Was verweigert wurde oder worden wäre' },
  decisions_unread: {
    en: 'The decisions could not be read. Load the page again.',
    de: 'Die Entscheidungen konnten nicht gelesen werden. Die Seite neu laden.',
  },
  enforce_detail: {
    en: 'Tool calls that a role does not allow are refused from now on. Look first at what audit would have denied.',
    de: 'Werkzeugaufrufe, die eine Rolle nicht erlaubt, werden ab jetzt verweigert. Zuerst ansehen, was das Protokollieren verweigert hätte.',
  },
  enforce_title: { en: 'Enforce roles?', de: 'Rollen durchsetzen?' },
  enforcement: { en: 'Role enforcement', de: 'Durchsetzung der Rollen' },
  enforcement_detail: {
    en: 'Whether tool calls need the role that they ask for.',
    de: 'Ob Werkzeugaufrufe die Rolle brauchen, die sie verlangen.',
  },
  from_day: { en: 'From', de: 'Von' },
  hash: { en: 'Hash', de: 'Prüfsumme' },
  mode_as_node: { en: 'As the node', de: 'Wie der Knoten' },
  mode_as_node_of: { en: '{id}: as the node', de: '{id}: wie der Knoten' },
  mode_audit: { en: 'Only record', de: 'Nur protokollieren' },
  mode_audit_detail: {
    en: 'Every call is allowed; those that a role does not allow are listed below.',
    de: 'Jeder Aufruf ist erlaubt; die eine Rolle nicht erlaubt, stehen unten.',
  },
  mode_enforce: { en: 'Enforce', de: 'Durchsetzen' },
  mode_enforce_detail: {
    en: 'Calls that a role does not allow are refused and listed below.',
    de: 'Aufrufe, die eine Rolle nicht erlaubt, werden verweigert und stehen unten.',
  },
  mode_of_node: { en: 'Mode of this node', de: 'Modus dieses Knotens' },
  mode_stub_allow: { en: 'Allow everything', de: 'Alles erlauben' },
  mode_stub_allow_detail: {
    en: 'Every tool call is allowed, and nothing is recorded.',
    de: 'Jeder Werkzeugaufruf ist erlaubt, und nichts wird protokolliert.',
  },
  modes_of_tenants: { en: 'Tenants with a mode of their own', de: 'Mandanten mit eigenem Modus' },
  modes_of_tenants_detail: {
    en: 'It holds on every node, and goes before that of the node.',
    de: 'Er gilt auf jedem Knoten und geht dem des Knotens vor.',
  },
  needed_role: { en: 'Needed role', de: 'Nötige Rolle' },
  newest: { en: 'Newest', de: 'Neueste' },
  no_decisions: { en: 'Nothing was denied', de: 'Nichts wurde verweigert' },
  no_decisions_detail: {
    en: 'With the mode that only records, calls appear here that would be denied.',
    de: 'Im protokollierenden Modus stehen hier Aufrufe, die verweigert würden.',
  },
  nothing_found: {
    en: 'Nothing was found. Try fewer or other words.',
    de: 'Nichts gefunden. Weniger oder andere Wörter versuchen.',
  },
  outcome: { en: 'Outcome', de: 'Ausgang' },
  outcome_denied: { en: 'denied', de: 'verweigert' },
  outcome_done: { en: 'done', de: 'getan' },
  outcome_failed: { en: 'failed', de: 'gescheitert' },
  request_id: { en: 'Request', de: 'Anfrage' },
  superadmin_changes: { en: 'Only a superadmin changes this.', de: 'Nur ein Superadmin ändert das.' },
  target: { en: 'Target', de: 'Ziel' },
  to_day: { en: 'To', de: 'Bis' },
  tool: { en: 'Tool', de: 'Werkzeug' },
  would_be_denied: { en: 'would be denied', de: 'würde verweigert' },
} satisfies Texts;
