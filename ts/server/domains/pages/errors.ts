/** Refusals of the pages. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const pagesErrors = defineErrors('pages', {
  not_found: [404, 'The client does not ask for a page (`Accept: text/html`).', 'The chat is at /chat, the reference at /docs.'],
  pages_not_built: [503, 'The pages are not built.', 'Run `npm start`, or `node scripts/build.mjs --web`.'],
});
