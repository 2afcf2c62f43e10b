/** Texts about branding, in English. */
export const branding = {
  accent_dark: 'Colour on dark pages',
  accent_light: 'Colour on light pages',
  as_product: 'As the product',
  branding: 'Branding',
  branding_detail: 'Name, colours and logo of the tenant’s pages. Everybody sees them on the sign-in page.',
  choose_logo: 'Choose a logo',
  colour_as_product: '{name}: as the product',
  logo_hint: 'PNG, JPEG or WebP, at most 1 MiB. The server encodes it anew.',
  of_the_product: 'the product’s',
  open_sign_in_page: 'Open the sign-in page',
  preview_hint: 'The whole console shows it until you leave this screen or save.',
  product_name: 'Name',
  product_name_hint: 'What the pages call themselves; empty: svc',
  remove_logo: 'Remove the logo',
  welcome_text: 'Words of welcome',
  welcome_text_hint: 'Stand on the sign-in page',
} as const;
