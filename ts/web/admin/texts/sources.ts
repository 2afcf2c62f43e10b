/** Texts about scientific sources. */
import type { Texts } from '../../i18n/catalogue.ts';

export const sources = {
  science: { en: 'Science', de: 'Wissenschaft' },
  sources_asked: { en: 'Asked for', de: 'Gewünscht' },
  sources_category: { en: 'Category', de: 'Gebiet' },
  sources_decline: { en: 'Decline requests', de: 'Wünsche ablehnen' },
  sources_detail: {
    en: 'Scientific sources that people and models of the tenant may ask.',
    de: 'Wissenschaftliche Quellen, die Menschen und Modelle des Mandanten befragen dürfen.',
  },
  sources_disable: { en: 'Disable', de: 'Abschalten' },
  sources_disabled: { en: 'disabled', de: 'abgeschaltet' },
  sources_enable: { en: 'Enable', de: 'Einschalten' },
  sources_enabled: { en: 'enabled', de: 'eingeschaltet' },
  sources_enabled_only: { en: 'Enabled only', de: 'Nur eingeschaltete' },
  sources_key: { en: 'Key', de: 'Schlüssel' },
  sources_key_hint: {
    en: 'It is sealed on this node, and shown nowhere. {url} issues one.',
    de: 'Er wird auf diesem Knoten versiegelt und nirgends gezeigt. Es gibt ihn bei {url}.',
  },
  sources_key_needed: { en: 'needed', de: 'nötig' },
  sources_key_of: { en: 'Key of {name}', de: 'Schlüssel für {name}' },
  sources_key_set: { en: 'set', de: 'gesetzt' },
  sources_name: { en: 'Source', de: 'Quelle' },
  sources_set_key: { en: 'Set key', de: 'Schlüssel setzen' },
} satisfies Texts;
