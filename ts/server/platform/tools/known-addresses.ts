/**
 * The addresses that a model goes to unasked in one run: those that the person wrote, those that a search found, and some links of pages that were
 * read, within their own site. An address that somebody else's text made up could carry the conversation away.
 */
const ADDRESS = /https?:\/\/[^\s<>"'`\\^{|}]+/gi;
/** Characters that a sentence puts behind an address. */
const TRAILING = /(?<![).,;:!?\]])[).,;:!?\]]+$/;
const MOST_LINKS_FOLLOWED = 20;
const MOST_KEPT = 5_000;

export class KnownAddresses {
  readonly #named = new Set<string>();
  readonly #links = new Set<string>();
  #nFollowed = 0;

  /** The addresses in the person's own words. */
  addText(text: string): void {
    for (const [found] of text.matchAll(ADDRESS)) {
      this.add(found);
      this.add(found.replace(TRAILING, ''));
    }
  }

  add(address: string): void {
    const key = keyOf(address);
    if (key !== undefined && this.#named.size < MOST_KEPT) this.#named.add(key);
  }

  addLink(address: string): void {
    const key = keyOf(address);
    if (key !== undefined && this.#links.size < MOST_KEPT) this.#links.add(key);
  }

  /** Whether a call may go there; a link counts each time. */
  admits(address: string): boolean {
    const key = keyOf(address);
    if (key === undefined) return false;
    if (this.#named.has(key)) return true;
    if (!this.#links.has(key) || this.#nFollowed >= MOST_LINKS_FOLLOWED) return false;
    this.#nFollowed += 1;
    return true;
  }
}

/** Whether both are of one host, with or without `www.`. */
export function isSameSite(a: URL, b: URL): boolean {
  return siteOf(a) === siteOf(b);
}

function siteOf({ hostname }: URL): string {
  return hostname
    .toLowerCase()
    .replace(/^www\./, '')
    .replace(/\.$/, '');
}

/** The part behind `#` never leaves the client. */
function keyOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  url.hash = '';
  return url.href;
}
