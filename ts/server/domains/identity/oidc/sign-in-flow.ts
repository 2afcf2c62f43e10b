/**
 * What the browser keeps between its way to the provider and back: state, nonce and PKCE verifier, sealed in a cookie with a key of the
 * installation. So nothing is stored for strangers, and any node of the installation can receive the browser.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export interface SignInFlow {
  state: string;
  nonce: string;
  verifier: string;
  returnTo: string;
  /** The account that wants to be linked; undefined: somebody signs in. */
  linkUserId: string | undefined;
  /** Unix milliseconds. */
  expiresAt: number;
}

export const FLOW_VALID_MS = 10 * 60 * 1000;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Longer texts were not sealed here. */
const MAX_LENGTH = 4096;

export class FlowSeal {
  readonly #key: Buffer;

  /** All nodes of the installation have the client's secret. */
  constructor(clientSecret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', clientSecret, '', 'svc sign-in flow', 32));
  }

  seal(flow: SignInFlow): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv);
    const text = Buffer.concat([cipher.update(JSON.stringify(flow), 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
  }

  /** Undefined: it was not sealed here, was changed, or has expired. */
  open(sealed: string, now: number): SignInFlow | undefined {
    if (sealed.length > MAX_LENGTH) return undefined;
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
      const flow = JSON.parse(text.toString('utf8')) as SignInFlow;
      return flow.expiresAt > now ? flow : undefined;
    } catch {
      // Another key, or another text: what it was meant to say cannot be known.
      return undefined;
    }
  }
}
