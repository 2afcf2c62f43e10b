/** A relay in front of a PostgreSQL server that can fall silent: what either side sends is swallowed, and no connection is closed or refused. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class SilentRelay {
  /** New connections are swallowed as well. */
  swallowsNew = false;
  /** New connections that were swallowed. */
  nSwallowed = 0;
  /** The server's answers are swallowed from the moment on that a client sends these bytes. */
  silentAfter: string | undefined;
  /** The next connection whose client sends these bytes is dead from them on, and no other one. */
  silentAt: string | undefined;
  readonly #server: Server;
  readonly #socketPath: string;
  /** The silent ones swallow. */
  readonly #pairs = new Set<{ client: Socket; server: Socket; isSilent: boolean }>();

  private constructor(socketPath: string) {
    this.#socketPath = socketPath;
    this.#server = createServer((client) => this.#join(client));
  }

  /** In front of the server of a URL as PostgresCluster gives them. */
  static async start(url: string): Promise<SilentRelay> {
    const folder = new URL(url.replace('postgres:///', 'postgres://x/')).searchParams.get('host');
    const relay = new SilentRelay(`${folder}/.s.PGSQL.5432`);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }

  /** The same database by way of the relay. */
  urlOf(url: string): string {
    const { pathname, searchParams } = new URL(url.replace('postgres:///', 'postgres://x/'));
    return `postgres://${searchParams.get('user')}@127.0.0.1:${(this.#server.address() as AddressInfo).port}${pathname}`;
  }

  /** Every open connection, and every new one, is dead from now on, and nobody is told. */
  fallSilent(): void {
    this.swallowsNew = true;
    for (const pair of this.#pairs) pair.isSilent = true;
  }

  /** New connections work. Those that fell silent stay so. */
  speakToNew(): void {
    this.swallowsNew = false;
    this.silentAfter = undefined;
  }

  close(): void {
    this.#server.close();
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  #join(client: Socket): void {
    const server = connect(this.#socketPath);
    const pair = { client, server, isSilent: this.swallowsNew };
    if (pair.isSilent) this.nSwallowed += 1;
    this.#pairs.add(pair);
    client.on('error', () => undefined).on('close', () => server.destroy());
    server.on('error', () => undefined).on('close', () => pair.isSilent || client.destroy());
    client.on('data', (bytes) => {
      if (this.silentAt !== undefined && bytes.includes(this.silentAt)) {
        pair.isSilent = true;
        this.silentAt = undefined;
      }
      if (!pair.isSilent) server.write(bytes);
      if (this.silentAfter !== undefined && bytes.includes(this.silentAfter)) {
        pair.isSilent = true;
        this.swallowsNew = true;
      }
    });
    server.on('data', (bytes) => pair.isSilent || client.write(bytes));
  }
}
