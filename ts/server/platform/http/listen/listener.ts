/** One listening address. Which listener a request came in on is decided here, by the socket, and by nothing a client sends. */

import { createServer } from 'node:net';
import type { Log } from '../../log/log.ts';
import { type CertificateFiles, readCertificate } from './certificate.ts';
import { CertificateWatch } from './certificate-watch.ts';
import type { InheritedSocket } from './inherited-socket.ts';
import { type AppOptions, type ListenAddress, ListeningApp } from './listening-app.ts';

export interface ListenerOptions extends Omit<AppOptions, 'admits'> {
  maxConnections: number;
  /** A listening socket that the process inherited, in place of one of its own. */
  inherited?: InheritedSocket | undefined;
  /** Undefined: plain HTTP. */
  tls?: TlsOptions | undefined;
  log: Log;
}

export interface TlsOptions extends CertificateFiles {
  /** How often the files are looked at for a new certificate; 10 s by default. */
  pollMs?: number;
}

export class Listener {
  readonly #options: ListenerOptions;
  #app: ListeningApp | undefined;
  /** Applications with earlier certificates, whose connections go on. */
  #retired: ListeningApp[] = [];
  #address: ListenAddress | undefined;
  #watch: CertificateWatch | undefined;
  #stopInherited: (() => void) | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  get connections(): number {
    return this.#apps().reduce((sum, app) => sum + app.connections, 0);
  }

  /** Resolves to the real address; port 0 asks for any free one. Rejects with why the address or the certificate cannot be had. */
  async open({ host, port }: ListenAddress): Promise<ListenAddress> {
    const { tls, log } = this.#options;
    if (tls !== undefined) {
      const { expires } = await readCertificate(tls);
      if (expires.getTime() < Date.now()) log.warn('the TLS certificate has expired', { cert: tls.certFile, expires });
    }
    const app = this.#create();
    this.#address = await this.#listen(app, { host, port });
    // Not before: closing an application that could not listen keeps the process from ending.
    this.#app = app;
    if (tls !== undefined) this.#watch = new CertificateWatch(tls, tls.pollMs ?? 10_000, () => this.#renew(tls));
    return this.#address;
  }

  /** Accepts no more connections; open ones go on. Those that come to an inherited socket wait there for the next process. */
  stopAccepting(): void {
    this.#watch?.stop();
    this.#stopInherited?.();
    this.#stopInherited = undefined;
    this.#app?.stopAccepting();
    this.#address = undefined;
  }

  /** Cuts every connection. */
  close(): void {
    this.#watch?.stop();
    this.#address = undefined;
    for (const app of this.#apps()) app.close();
  }

  /** A pair that cannot be used is logged and changes nothing. */
  async #renew(tls: TlsOptions): Promise<void> {
    const { log } = this.#options;
    try {
      const { names, expires } = await readCertificate(tls);
      if (expires.getTime() < Date.now())
        throw new Error(`the certificate in ${tls.certFile} expired on ${expires.toISOString()}`);
      if (this.#address === undefined) return;
      this.#replace(this.#address);
      log.info('the TLS certificate was renewed', { cert: tls.certFile, names, expires });
    } catch (error) {
      log.error('the new TLS certificate cannot be used; the one before it stays', { error });
    }
  }

  /**
   * The library cannot exchange the certificate of an application, so a new one takes over the address. Between closing the one socket and
   * opening the other lies no turn of the event loop; a connection that the kernel had ready just then is reset. Sharing the port instead
   * would let another program of the same user share it, too. An address whose port was asked for as 0 cannot be taken over.
   */
  #replace(address: ListenAddress): void {
    const before = this.#app;
    const next = this.#create();
    if (this.#options.inherited !== undefined) {
      this.#use(next);
      return;
    }
    before?.stopAccepting();
    if (next.listen(address) === undefined) {
      before?.listen(address);
      throw new Error(`the address ${address.host}:${address.port} could not be taken over`);
    }
    this.#use(next);
  }

  /** New connections are this application's; those of the one before go on. */
  #use(next: ListeningApp): void {
    this.#retired = this.#apps().filter((app) => app.connections > 0);
    this.#app = next;
  }

  async #listen(app: ListeningApp, { host, port }: ListenAddress): Promise<ListenAddress> {
    const { inherited } = this.#options;
    if (inherited !== undefined) {
      const { address, stop } = inherited.accept((connection) => this.#app?.adopt(connection));
      this.#stopInherited = stop;
      return address;
    }
    const realPort = app.listen({ host, port });
    if (realPort === undefined) throw await findListenFailure(host, port);
    return { host, port: realPort };
  }

  #create(): ListeningApp {
    const { maxConnections, tls } = this.#options;
    return new ListeningApp({ ...this.#options, admits: () => this.connections <= maxConnections }, tls);
  }

  #apps(): ListeningApp[] {
    return this.#app === undefined ? this.#retired : [this.#app, ...this.#retired];
  }
}

/** Says why an address cannot be listened on. The library does not; Node's own socket does. */
const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it or choose another port',
  EACCES: 'ports below 1024 need a privilege; choose a higher port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host name cannot be resolved',
};

function findListenFailure(host: string, port: number): Promise<Error> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (cause: NodeJS.ErrnoException) => resolve(describeFailure(host, port, cause)));
    server.listen({ host, port, exclusive: true }, () =>
      server.close(() => resolve(new Error(`cannot listen on ${host}:${port}; try again`))),
    );
  });
}

function describeFailure(host: string, port: number, cause: NodeJS.ErrnoException): Error {
  return new Error(`cannot listen on ${host}:${port}: ${REASONS[cause.code ?? ''] ?? cause.message}`, { cause });
}
