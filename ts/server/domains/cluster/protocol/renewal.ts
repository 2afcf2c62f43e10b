/**
 * A node's certificate and the one that follows it. The others are told of the new one long before it is shown: whoever was away meanwhile could not tell a
 * node with a certificate that it never saw from a stranger. Time, disk and the list of nodes come through ports.
 */

const DAY_MS = 24 * 3_600_000;
/** The next one is made and registered so long before the end. */
export const RENEW_MS = 10 * DAY_MS;
/** It is shown from then on. */
export const SHOW_MS = DAY_MS;
/** The others that are there have read the list of certificates by then, however late the renewal is. */
const SETTLE_MS = 5_000;

interface Certificate {
  readonly expiresAt: number;
}

interface RenewalPorts<C extends Certificate> {
  /** Unix milliseconds. */
  now(): number;
  /** Opens the next one, and makes it where there is none. */
  next(): Promise<C>;
  register(certificate: C): Promise<void>;
  /** The next one takes the place of the one in use. */
  take(): Promise<void>;
}

export class Renewal<C extends Certificate> {
  readonly #ports: RenewalPorts<C>;
  #next: { certificate: C; registeredAt: number } | undefined;

  constructor(ports: RenewalPorts<C>) {
    this.#ports = ports;
  }

  /** The certificate that is shown from now on; undefined: the one in use. Throws what a port throws, and goes on with the next call. */
  async run({ expiresAt }: C): Promise<C | undefined> {
    const { now, next, register, take } = this.#ports;
    if (expiresAt - now() >= RENEW_MS) return undefined;
    if (this.#next === undefined) {
      const certificate = await next();
      await register(certificate);
      this.#next = { certificate, registeredAt: now() };
    }
    const { certificate, registeredAt } = this.#next;
    if (now() < Math.max(registeredAt + SETTLE_MS, expiresAt - SHOW_MS)) return undefined;
    await take();
    this.#next = undefined;
    return certificate;
  }
}
