/** Texts about branding, in German. */
import type { Translation } from '../../../i18n/catalogue.ts';
import type { branding as english } from '../en/branding.ts';

export const branding: Translation<typeof english> = {
  accent_dark: 'Farbe auf dunklen Seiten',
  accent_light: 'Farbe auf hellen Seiten',
  as_product: 'Wie das Produkt',
  branding: 'Erscheinungsbild',
  branding_detail: 'Name, Farben und Logo der Seiten des Mandanten. Jeder sieht sie auf der Anmeldeseite.',
  choose_logo: 'Logo wählen',
  colour_as_product: '{name}: wie das Produkt',
  logo_hint: 'PNG, JPEG oder WebP, höchstens 1 MiB. Der Server kodiert es neu.',
  of_the_product: 'die des Produkts',
  open_sign_in_page: 'Anmeldeseite öffnen',
  preview_hint: 'Die ganze Konsole zeigt es, bis diese Ansicht verlassen oder gespeichert wird.',
  product_name: 'Name',
  product_name_hint: 'Wie die Seiten sich nennen; leer: svc',
  remove_logo: 'Logo entfernen',
  welcome_text: 'Begrüßung',
  welcome_text_hint: 'Stehen auf der Anmeldeseite',
};
