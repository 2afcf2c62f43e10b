/** Hashes passwords with argon2id, off the JS thread and few at a time: each takes memory and a core for milliseconds. */
import type { Options } from '@node-rs/argon2';
import { identityError } from '../errors.ts';

/** The least that OWASP's password storage cheat sheet recommends. The algorithm, argon2id, is the library's default. */
const PARAMETERS: Options = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };
const MAX_RUNNING = 2;
const MAX_WAITING = 64;

export class PasswordHasher {
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  /** Of a password that nobody has: verifying takes as long for a name without an account. */
  #decoy: Promise<string> | undefined;

  /** Must be called before the first verification, so that the first unknown name takes no longer than others. Waits for nothing. */
  start(): void {
    this.#decoy ??= argon2().then(({ hash }) => hash(crypto.randomUUID(), PARAMETERS));
    // Whoever verifies a password hears of it.
    this.#decoy.catch(() => undefined);
  }

  /** In the PHC format. Throws `server_busy` when too many wait. */
  hash(password: string): Promise<string> {
    return this.#inTurn(async () => (await argon2()).hash(password, PARAMETERS));
  }

  /** Without a stored hash it takes the same time and is false. Throws `server_busy` when too many wait. */
  async verify(stored: string | undefined, password: string): Promise<boolean> {
    const decoy = (await this.#decoy) ?? '';
    const matches = await this.#inTurn(async () => (await argon2()).verify(stored ?? decoy, password));
    return stored !== undefined && matches;
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= MAX_RUNNING) await this.#wait();
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }

  #wait(): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) {
      throw identityError('server_busy', 'Too many passwords are being checked at once; retry shortly.', { retryAfterMs: 1000 });
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** Loaded when the first password comes. */
const argon2 = () => import('@node-rs/argon2');
