/** The last wall before the page: of rendered HTML only what a message may have, as elements. */
import DOMPurify from 'dompurify';
import { ALLOWED_ADDRESS, ALLOWED_ATTRIBUTES, ALLOWED_TAGS } from './allowed.ts';

// Given with each call, it would be read with each call.
DOMPurify.setConfig({
  ALLOWED_TAGS,
  ALLOWED_ATTR: ALLOWED_ATTRIBUTES,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: ALLOWED_ADDRESS,
  RETURN_DOM_FRAGMENT: true,
});

export function clean(html: string): DocumentFragment {
  return DOMPurify.sanitize(html, { RETURN_DOM_FRAGMENT: true });
}
