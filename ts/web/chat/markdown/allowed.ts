/** What text that a model wrote may become: elements, their attributes, and where links lead. */
export const ALLOWED_TAGS = [
  ...['p', 'br', 'hr', 'strong', 'em', 's', 'code', 'pre', 'blockquote', 'a', 'img', 'span'],
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
];
export const ALLOWED_ATTRIBUTES = ['href', 'src', 'alt', 'title', 'class', 'start'];
export const ALLOWED_ADDRESS = /^(https?:\/\/|mailto:)/i;
/** It stands in the message itself; every other picture would tell its host that the message was read. */
export const ALLOWED_PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,/i;
