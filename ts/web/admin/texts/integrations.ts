/** Texts about webhooks and provisioning. */
import type { Texts } from '../../i18n/catalogue.ts';

export const integrations = {
  choose_event: { en: 'Choose at least one event.', de: 'Mindestens ein Ereignis wählen.' },
  delete_webhook: { en: 'Delete webhook', de: 'Webhook löschen' },
  delete_webhook_detail: {
    en: 'Nothing more is sent to {url}, and its deliveries are deleted.',
    de: 'An {url} wird nichts mehr gesendet, und seine Zustellungen werden gelöscht.',
  },
  deliveries: { en: 'Deliveries', de: 'Zustellungen' },
  delivery_delivered: { en: 'delivered', de: 'zugestellt' },
  delivery_failed: { en: 'failed', de: 'gescheitert' },
  delivery_pending: { en: 'waiting', de: 'wartet' },
  event: { en: 'Event', de: 'Ereignis' },
  events: { en: 'Events', de: 'Ereignisse' },
  failing: { en: 'failing', de: 'scheitert' },
  failing_since: { en: 'since {time}', de: 'seit {time}' },
  new_scim_token: { en: 'New SCIM token', de: 'Neues SCIM-Token' },
  new_webhook: { en: 'New webhook', de: 'Neuer Webhook' },
  next_attempt: { en: 'Next attempt', de: 'Nächster Versuch' },
  no_deliveries: { en: 'Nothing was sent yet', de: 'Noch wurde nichts gesendet' },
  no_deliveries_detail: {
    en: 'The next event that is chosen for this webhook appears here.',
    de: 'Das nächste gewählte Ereignis erscheint hier.',
  },
  no_scim_tokens: { en: 'No SCIM tokens', de: 'Keine SCIM-Token' },
  no_scim_tokens_detail: {
    en: 'Make one for the directory that shall provision accounts and groups.',
    de: 'Eines für das Verzeichnis anlegen, das Konten und Gruppen pflegen soll.',
  },
  no_webhooks: { en: 'No webhooks yet', de: 'Noch keine Webhooks' },
  no_webhooks_detail: { en: 'Make one to hear of events by HTTP.', de: 'Einen anlegen, um über HTTP von Ereignissen zu hören.' },
  oidc_off: { en: 'off: set identity.oidc.issuer', de: 'aus: identity.oidc.issuer setzen' },
  provisioning: { en: 'Sign-in and SCIM', de: 'Anmeldung und SCIM' },
  provisioning_detail: {
    en: 'How people get accounts: by themselves, through a provider, or from a directory.',
    de: 'Wie man zu Konten kommt: selbst, über einen Anmeldedienst oder aus einem Verzeichnis.',
  },
  registration_closed: { en: 'closed: administrators make accounts', de: 'geschlossen: Konten legen Administratoren an' },
  registration_open: { en: 'open: people make accounts as viewers', de: 'offen: jeder legt sich ein Konto als Betrachter an' },
  replay: { en: 'Send again', de: 'Nochmals senden' },
  replayed: { en: 'It is sent again', de: 'Wird nochmals gesendet' },
  reset_by_mail: { en: 'Password reset by e-mail', de: 'Passwort zurücksetzen per E-Mail' },
  reset_mail_off: { en: 'off: set smtp.host', de: 'aus: smtp.host setzen' },
  revoke_scim_detail: {
    en: 'The directory that uses {name} can change nothing here any more.',
    de: 'Das Verzeichnis, das {name} benutzt, kann hier nichts mehr ändern.',
  },
  scim_account_hint: {
    en: 'The program’s account that the directory acts as; it is made when there is none',
    de: 'Das Programmkonto, als das das Verzeichnis handelt; es wird angelegt, wenn es keines gibt',
  },
  scim_address: { en: 'SCIM address', de: 'SCIM-Adresse' },
  scim_token_detail: {
    en: 'Give it to the directory with the SCIM address. It administers the accounts of its tenant, passwords included.',
    de: 'Dem Verzeichnis mit der SCIM-Adresse geben. Es verwaltet die Konten seines Mandanten, auch Passwörter.',
  },
  scim_tokens: { en: 'SCIM tokens', de: 'SCIM-Token' },
  self_registration: { en: 'Self-registration', de: 'Selbstanmeldung' },
  sign_in_ways: { en: 'Ways to an account', de: 'Wege zum Konto' },
  webhook_address_hint: {
    en: 'https, and not inside a private network; it cannot be changed later',
    de: 'https, und nicht in einem privaten Netz; später nicht zu ändern',
  },
  webhook_secret: { en: 'Secret of the webhook', de: 'Geheimnis des Webhooks' },
  webhook_secret_detail: {
    en: 'With it your program checks that a delivery came from here.',
    de: 'Damit prüft das Programm, dass eine Zustellung von hier kam.',
  },
  webhooks: { en: 'Webhooks', de: 'Webhooks' },
  webhooks_detail: {
    en: 'Events of the tenant, posted to an address and signed.',
    de: 'Ereignisse des Mandanten, signiert an eine Adresse gesendet.',
  },
} satisfies Texts;
