/** Texts about backends of providers and their prices. */
import type { Texts } from '../../i18n/catalogue.ts';

export const cloud = {
  add_backend: { en: 'Add a provider', de: 'Anbieter hinzufügen' },
  backend_address_hint: {
    en: 'With /v1 for what speaks OpenAI’s API; empty for the provider’s own.',
    de: 'Mit /v1 für alles, was die API von OpenAI spricht; leer für die des Anbieters.',
  },
  backend_first_content: { en: 'First words', de: 'Erste Worte' },
  backend_key: { en: 'API key', de: 'API-Schlüssel' },
  backend_key_hint: {
    en: 'Kept sealed on this node, and never shown again.',
    de: 'Wird versiegelt auf diesem Knoten gehalten und nie wieder gezeigt.',
  },
  backend_recheck: { en: 'Check again', de: 'Erneut prüfen' },
  backend_state_backend_unhealthy: { en: 'does not work', de: 'arbeitet nicht' },
  backend_state_checking: { en: 'being checked', de: 'wird geprüft' },
  backend_state_disabled: { en: 'switched off', de: 'ausgeschaltet' },
  backend_state_ok: { en: 'works', de: 'arbeitet' },
  backend_today: { en: 'Cost today', de: 'Kosten heute' },
  backends: { en: 'Backends', de: 'Anbieter' },
  backends_detail: {
    en: 'Providers whose models answer as if they ran here.',
    de: 'Anbieter, deren Modelle antworten, als liefen sie hier.',
  },
  delete_backend: { en: 'Delete backend', de: 'Anbieter löschen' },
  delete_backend_detail: {
    en: '{id} is deleted with its key. Its models answer no more.',
    de: '{id} wird mit seinem Schlüssel gelöscht. Seine Modelle antworten nicht mehr.',
  },
  no_backends: { en: 'No backends', de: 'Keine Anbieter' },
  no_backends_detail: {
    en: 'Add a provider with its key, and its models appear beside those of this node.',
    de: 'Einen Anbieter mit seinem Schlüssel hinzufügen, und seine Modelle stehen neben denen dieses Knotens.',
  },
  price_cached: { en: 'Of the cache', de: 'Aus dem Cache' },
  price_input: { en: 'Input', de: 'Eingabe' },
  price_list: { en: 'list', de: 'Liste' },
  price_output: { en: 'Output', de: 'Ausgabe' },
  price_own: { en: 'set here', de: 'hier gesetzt' },
  price_source: { en: 'Source', de: 'Quelle' },
  prices: { en: 'Prices', de: 'Preise' },
  prices_detail: { en: 'Money for a million tokens.', de: 'Geld für eine Million Token.' },
  switch_backend_off: { en: 'Switch off', de: 'Ausschalten' },
  switch_backend_on: { en: 'Switch on', de: 'Einschalten' },
} satisfies Texts;
