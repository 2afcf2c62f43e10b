/**
 * Takes secrets out of text that leaves the machine: by what the node itself knows to be secret, by the names in front of values, by the
 * forms of well-known credentials, and at last whatever looks random. What goes is replaced by a mark that is the same for the same value
 * within one scrubber, so that a reader still sees which lines belong together.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { looksRandom } from './looks-random.ts';
import { replaceNamedValues } from './named-values.ts';
import { isSecretName } from './secret-name.ts';

/** Shorter values would take innocent words out of the text. */
const SHORTEST_KNOWN = 6;

const PEM = /-----BEGIN [A-Z0-9 ]+-----[\s\S]*?(?:-----END [A-Z0-9 ]+-----|$)/g;
const USER_INFO = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@"'<>]{1,1024}@/gi;
const SCHEME = /\b((?:Basic|Bearer|Digest|Negotiate)\s{1,4})([\w.~+/=-]{8,})/g;
/** Addresses that are credentials as a whole: who has them may post. */
const HOOK =
  /(https?:\/\/(?:hooks\.slack\.com\/services|(?:\w+\.)?discord(?:app)?\.com\/api\/webhooks|[\w.-]{0,80}webhook\.office\.com\/webhookb2|api\.telegram\.org\/bot)\/?)[^\s"'<>]+/gi;
/** Prefixes that name the issuer of a key. */
const PREFIXED =
  /\b(?:sk-|sk_|rk_|pk_live_|whsec_|hf_|gh[pousr]_|github_pat_|glpat-|gl(?:agent|cbt|dt|ffct|ft|imt|oas|ptt|rtr?|soat)-(?=[\w-]{16})|gl[a-z]{2,4}-(?=\w{20})|xox[a-z]-|xapp-|npm_|pypi-|dop_v1_|doo_v1_|shpat_|shpss_|sq0[a-z]{3}-|EAA[A-Z](?=\w{20})|AKIA|ASIA|AIza|ya29\.|GOCSPX-|SG\.|key-(?=\w{20})|AC(?=[0-9a-f]{32})|SK(?=[0-9a-f]{32})|gsk_|r8_|nvapi-|tskey-|lin_api_|secret_(?=\w{20})|ntn_|fo1_|dckr_pat_|hvs\.|hvb\.|s\.(?=[A-Za-z0-9]{24})|ops_(?=\w{20})|AGE-SECRET-KEY-1|PMAK-|dapi(?=[0-9a-f]{32})|sntrys_|sntryu_|ATATT|ATCTT|figd_|rubygems_|eyJ)[\w.~+/=:-]{6,}/g;
/** How stored passwords and boxed keys are written: $argon2id$..., $2b$..., {SSHA}... */
const HASHED = /\$(?:argon2\w*|2[abxy]|scrypt|pbkdf2[\w-]*|[156y]|7)\$[^\s"',;]+|\{S?(?:SHA|MD5|CRYPT)\d*\}[\w+/=]+/g;
const BOT = /\b\d{8,10}:[A-Za-z0-9_-]{30,}/g;
const CARD_OR_RECOVERY = /\b(?:[A-Z0-9]{4,6}-){3,7}[A-Z0-9]{4,6}\b/g;
const RUN = /[A-Za-z0-9+/_~=-]{16,}/g;

export class SecretScrubber {
  readonly #known: readonly string[];
  readonly #key = randomBytes(32);

  /** `known`: values that are secret on this node, whatever they look like. */
  constructor(known: Iterable<string> = []) {
    const values = [...known].map((value) => value.trim()).filter((value) => value.length >= SHORTEST_KNOWN);
    // The longest first: a secret may contain another.
    this.#known = [...new Set(values.flatMap(spellings))].sort((a, b) => b.length - a.length);
  }

  scrub(text: string): string {
    const mark = (secret: string): string => this.#mark(secret);
    let clean = text;
    for (const value of this.#known) clean = clean.replaceAll(value, mark);
    clean = clean
      .replace(PEM, mark)
      .replace(HOOK, (whole, front: string) => front + mark(whole))
      .replace(USER_INFO, (whole, scheme: string) => `${scheme}${mark(whole)}@`);
    return replaceNamedValues(clean, mark)
      .replace(SCHEME, (whole, scheme: string, secret: string) => (secret.startsWith('[') ? whole : scheme + mark(secret)))
      .replace(PREFIXED, mark)
      .replace(HASHED, mark)
      .replace(BOT, mark)
      .replace(CARD_OR_RECOVERY, (code) => (/\d/.test(code) ? mark(code) : code))
      .replace(RUN, (run) => (looksRandom(run) ? mark(run) : run));
  }

  /** A copy of a JSON value whose texts are scrubbed; members with the name of a secret lose their text whatever it is. */
  scrubJson(value: unknown): unknown {
    if (typeof value === 'string') return this.scrub(value);
    if (Array.isArray(value)) return value.map((item) => this.scrubJson(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.#scrubMember(name, member)]));
  }

  #scrubMember(name: string, member: unknown): unknown {
    if (typeof member !== 'string' || member === '') return this.scrubJson(member);
    return isSecretName(name) ? this.#mark(member) : this.scrub(member);
  }

  #mark(secret: string): string {
    return `[redacted ${createHmac('sha256', this.#key).update(secret).digest('hex').slice(0, 4)}]`;
  }
}

/** A secret is looked for as it stands in JSON, in an address and in base64. */
function spellings(value: string): string[] {
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), Buffer.from(value).toString('base64')];
}
