/** Texts about messages that go out. */
import type { Texts } from '../../i18n/catalogue.ts';

export const messages = {
  add_message_account: { en: 'Add account', de: 'Zugang hinzufügen' },
  message_account: { en: 'Account', de: 'Zugang' },
  message_account_hint: {
    en: 'JSON: name, kind, settings, allowed_recipients and limits. The documentation has accounts of each kind.',
    de: 'JSON: name, kind, settings, allowed_recipients und limits. Die Dokumentation hat Zugänge jeder Art.',
  },
  message_account_off: { en: 'off', de: 'aus' },
  message_account_on: { en: 'on', de: 'an' },
  message_failed: { en: 'failed', de: 'gescheitert' },
  message_key: { en: 'Password, token or address of the hook', de: 'Passwort, Token oder Adresse des Hooks' },
  message_key_hint: {
    en: 'It is sealed on this node, and shown nowhere. Empty: the account needs none.',
    de: 'Es wird auf diesem Knoten versiegelt und nirgends gezeigt. Leer: der Zugang braucht keines.',
  },
  message_models: { en: 'Models', de: 'Modelle' },
  message_models_ask: { en: 'by approval', de: 'mit Freigabe' },
  message_models_allow: { en: 'Let models send', de: 'Modelle senden lassen' },
  message_models_may: { en: 'may send', de: 'dürfen senden' },
  message_models_forbid: { en: 'Models ask first', de: 'Modelle fragen zuerst' },
  message_outcome_unknown: { en: 'outcome unknown', de: 'Ausgang unbekannt' },
  message_queued: { en: 'waits', de: 'wartet' },
  message_recipients: { en: 'Allowed recipients', de: 'Erlaubte Empfänger' },
  message_recipients_none: { en: 'none', de: 'keine' },
  message_repetition: { en: 'Without an answer', de: 'Ohne Antwort' },
  message_repetition_known: { en: 'sent again, taken once', de: 'nochmals gesendet, einmal angenommen' },
  message_repetition_unknown: { en: 'a person decides', de: 'ein Mensch entscheidet' },
  message_resend: { en: 'Send again', de: 'Nochmals senden' },
  message_resend_detail: {
    en: 'It may come twice. Look first whether it came.',
    de: 'Sie kann doppelt ankommen. Sieh erst nach, ob sie ankam.',
  },
  message_sending: { en: 'is being sent', de: 'wird gesendet' },
  message_sent: { en: 'sent', de: 'gesendet' },
  message_switch_off: { en: 'Switch off', de: 'Abschalten' },
  message_switch_on: { en: 'Switch on', de: 'Einschalten' },
  message_test: { en: 'Send a test', de: 'Test senden' },
  message_to: { en: 'Recipient', de: 'Empfänger' },
  message_to_hint: { en: 'Empty for hooks, which lead to one place.', de: 'Leer bei Hooks, die an einen Ort führen.' },
  messages: { en: 'Messages', de: 'Nachrichten' },
  messages_detail: {
    en: 'Accounts over which people and models send, and whom they may reach.',
    de: 'Zugänge, über die Menschen und Modelle senden, und wen sie erreichen dürfen.',
  },
  no_message_accounts: { en: 'No accounts yet', de: 'Noch keine Zugänge' },
  no_message_accounts_detail: {
    en: 'Mail, Matrix, Telegram, Slack, Teams, short messages and hooks.',
    de: 'Mail, Matrix, Telegram, Slack, Teams, Kurznachrichten und Hooks.',
  },
  remove_message_account: { en: 'Remove account', de: 'Zugang entfernen' },
  remove_message_account_detail: {
    en: 'Nothing is sent over {name} any more. Records of what was sent stay.',
    de: 'Über {name} wird nichts mehr gesendet. Aufzeichnungen des Gesendeten bleiben.',
  },
} satisfies Texts;
