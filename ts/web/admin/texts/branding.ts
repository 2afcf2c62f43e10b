/** Texts about branding. */
import type { Texts } from '../../i18n/catalogue.ts';

export const branding = {
  accent_dark: { en: 'Colour on dark pages', de: 'Farbe auf dunklen Seiten' },
  accent_light: { en: 'Colour on light pages', de: 'Farbe auf hellen Seiten' },
  as_product: { en: 'As the product', de: 'Wie das Produkt' },
  branding: { en: 'Branding', de: 'Erscheinungsbild' },
  branding_detail: {
    en: 'Name, colours and logo of the tenant’s pages. Everybody sees them on the sign-in page.',
    de: 'Name, Farben und Logo der Seiten des Mandanten. Jeder sieht sie auf der Anmeldeseite.',
  },
  choose_logo: { en: 'Choose a logo', de: 'Logo wählen' },
  colour_as_product: { en: '{name}: as the product', de: '{name}: wie das Produkt' },
  logo_hint: {
    en: 'PNG, JPEG or WebP, at most 1 MiB. The server encodes it anew.',
    de: 'PNG, JPEG oder WebP, höchstens 1 MiB. Der Server kodiert es neu.',
  },
  of_the_product: { en: 'the product’s', de: 'die des Produkts' },
  open_sign_in_page: { en: 'Open the sign-in page', de: 'Anmeldeseite öffnen' },
  preview_hint: {
    en: 'The whole console shows it until you leave this screen or save.',
    de: 'Die ganze Konsole zeigt es, bis diese Ansicht verlassen oder gespeichert wird.',
  },
  product_name: { en: 'Name', de: 'Name' },
  product_name_hint: { en: 'What the pages call themselves; empty: svc', de: 'Wie die Seiten sich nennen; leer: svc' },
  remove_logo: { en: 'Remove the logo', de: 'Logo entfernen' },
  welcome_text: { en: 'Words of welcome', de: 'Begrüßung' },
  welcome_text_hint: { en: 'Stand on the sign-in page', de: 'Stehen auf der Anmeldeseite' },
} satisfies Texts;
