/** The one-time code that lets somebody administer a node without accounts from another machine. It is shown in the log, and never stored. */
import { randomBase62 } from '../secrets/base62.ts';
import { isSameSecret } from '../secrets/secret-token.ts';

export const SETUP_CODE_HEADER = 'x-svc-setup-code';
/** 143 random bits. */
const LENGTH = 24;

export class SetupCode {
  /** Undefined: the node has accounts, and no code works. */
  #code: string | undefined;

  /** A new code, for the log. */
  issue(): string {
    this.#code = randomBase62(LENGTH);
    return this.#code;
  }

  withdraw(): void {
    this.#code = undefined;
  }

  matches(given: string): boolean {
    return this.#code !== undefined && isSameSecret(given, this.#code);
  }
}
