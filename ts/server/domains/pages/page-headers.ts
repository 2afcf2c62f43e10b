/** What browsers may do with the pages: nothing is loaded from elsewhere, no text becomes a script. */

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // blob: and data: are pictures that the page made itself, or that stand in a message; neither reaches another host.
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  // The sandbox, which has a policy of its own. A frame that leaves it would ask this one, too.
  "frame-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types dompurify',
].join('; ');

const PERMISSIONS = 'camera=(), geolocation=(), payment=(), usb=()';

export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': `${PERMISSIONS}, microphone=()`,
  'x-frame-options': 'DENY',
  // A name that a model wrote into a link must not be looked up before somebody follows it.
  'x-dns-prefetch-control': 'off',
};

/** The chat takes dictation, reads answers aloud, which are sounds that it made itself, and plays the recordings that answers cite. */
export const CHAT_HEADERS = {
  ...PAGE_HEADERS,
  'content-security-policy': `${POLICY}; media-src 'self' blob:`,
  'permissions-policy': `${PERMISSIONS}, microphone=(self)`,
};

/**
 * What models made runs here, in an origin that nothing else has: it asks no host, and reaches neither the page around it nor its cookies. The page
 * that embeds it lets it go nowhere else (`frame-src`).
 */
const SANDBOX_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'media-src data: blob:',
  'font-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ');

export const SANDBOX_HEADERS = {
  ...PAGE_HEADERS,
  'content-security-policy': SANDBOX_POLICY,
  'x-frame-options': 'SAMEORIGIN',
};
