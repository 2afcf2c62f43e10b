/** One application of the library with its listening socket, and its certificate if it speaks TLS. */
import { Exchange, type HttpResponse, type TemplatedApp, type us_listen_socket, uws } from '../exchange.ts';
import type { Route } from '../route.ts';
import type { CertificateFiles } from './certificate.ts';
import { answerProbe, type ProbeDeps } from './probe.ts';

export interface ListenAddress {
  host: string;
  port: number;
}

export interface AppOptions extends Omit<ProbeDeps, 'isTls'> {
  /** Routes answered without an exchange. */
  probes: readonly Route[];
  /** False: the connection is closed at once. */
  admits(): boolean;
}

export class ListeningApp {
  readonly #app: TemplatedApp;
  #socket: us_listen_socket | undefined;
  #connections = 0;

  /** Throws when the library refuses the certificate, without saying why; see readCertificate. */
  constructor(options: AppOptions, certificate: CertificateFiles | undefined) {
    const isTls = certificate !== undefined;
    this.#app =
      certificate === undefined
        ? uws.App()
        : uws.SSLApp({ cert_file_name: certificate.certFile, key_file_name: certificate.keyFile });
    this.#app.filter((res, change) => this.#count(res, Number(change), options.admits));
    const deps: ProbeDeps = { ...options, isTls };
    for (const probe of options.probes) this.#app.get(probe.path, (res, req) => answerProbe(probe, res, req, deps));
    this.#app.any('/*', (res, req) => options.accept(new Exchange(res, req, isTls)));
  }

  get connections(): number {
    return this.#connections;
  }

  /** The real port, as 0 asks for any free one. Undefined: the address cannot be had. */
  listen({ host, port }: ListenAddress): number | undefined {
    // The library shares ports by default; a second server on the same port must fail instead. Its types lack this overload.
    const listen = this.#app.listen.bind(this.#app) as unknown as ListenExclusively;
    listen(host, port, uws.ListenOptions?.LIBUS_LISTEN_EXCLUSIVE_PORT ?? 1, (socket) => {
      this.#socket = socket === false ? undefined : socket;
    });
    return this.#socket === undefined ? undefined : uws.us_socket_local_port(this.#socket as never);
  }

  /** Serves a connection that somebody else accepted; the descriptor is the application's from here on. */
  adopt(connection: number): void {
    // The library's types lack this method.
    (this.#app as unknown as { adoptSocket(descriptor: number): void }).adoptSocket(connection);
  }

  /** Accepts no more connections; open ones go on. */
  stopAccepting(): void {
    if (this.#socket !== undefined) uws.us_listen_socket_close(this.#socket);
    this.#socket = undefined;
  }

  /** Cuts every connection. */
  close(): void {
    this.#socket = undefined;
    this.#app.close();
  }

  /** `change` is 1 for a connection that opened, -1 for one that closed. */
  #count(res: HttpResponse, change: number, admits: () => boolean): void {
    this.#connections += change;
    if (change > 0 && !admits()) res.close();
  }
}

/** The callback runs before the call returns. */
type ListenExclusively = (
  host: string,
  port: number,
  options: number,
  callback: (socket: us_listen_socket | false) => void,
) => void;
