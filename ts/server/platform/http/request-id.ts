/** Names each request for the log and the client. */
import { randomBytes } from 'node:crypto';

const SANE = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

export class RequestIds {
  readonly #prefix = randomBytes(6).toString('hex');
  #count = 0;

  /** The client's id when it is sane, else a new one: unique in this process by count, across processes by a random prefix. */
  resolve(given: string | undefined): string {
    if (given !== undefined && SANE.test(given)) return given;
    this.#count += 1;
    return `${this.#prefix}-${this.#count.toString(36)}`;
  }
}
