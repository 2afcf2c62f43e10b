/**
 * A way from one process to another that fails as networks do: it cuts connections, delays bytes, ends one direction alone, or lets nothing through.
 * What is held back arrives later, as TCP would send it again.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** `dialer` has opened the connection. */
type Side = 'dialer' | 'target';

interface Pair {
  readonly dialer: Socket;
  readonly target: Socket;
  /** The port of the dialer's end, by which its process is found. */
  readonly from: number;
}

export class FaultyRelay {
  /** Each piece of bytes waits so long, one after the other. */
  delayMs = 0;
  readonly port: number;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #isHeld: (from: number) => boolean = () => false;
  /** Settles when less is held. */
  #released = Promise.withResolvers<void>();

  /** On a free port of 127.0.0.1, in front of `port` there, which need not listen yet. */
  static async open(port: number): Promise<FaultyRelay> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FaultyRelay(server, port);
  }

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (dialer) => this.#join(dialer, target));
  }

  /** Resets every open connection; new ones are taken. */
  cut(): void {
    for (const { dialer, target } of this.#pairs) {
      dialer.resetAndDestroy();
      target.resetAndDestroy();
    }
  }

  /** Ends what goes to that side on every open connection; what comes from there goes on. */
  halfClose(side: Side): void {
    for (const pair of this.#pairs) pair[side].end();
  }

  /** Lets nothing through of the connections that `isHeld` names by the port of their dialer, in neither direction, and tells nobody. */
  hold(isHeld: (from: number) => boolean): void {
    this.#isHeld = isHeld;
    this.#release();
  }

  /** Lets everything through, also what was held. */
  heal(): void {
    this.delayMs = 0;
    this.hold(() => false);
  }

  close(): void {
    this.#server.close();
    this.cut();
    this.heal();
  }

  #release(): void {
    this.#released.resolve();
    this.#released = Promise.withResolvers();
  }

  #join(dialer: Socket, port: number): void {
    const target = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    const pair = { dialer, target, from: dialer.remotePort ?? 0 };
    this.#pairs.add(pair);
    for (const socket of [dialer, target]) socket.setNoDelay(true).on('error', () => undefined);
    const ways = [this.#carry(pair, dialer, target), this.#carry(pair, target, dialer)];
    void Promise.all(ways).then(() => {
      this.#pairs.delete(pair);
      dialer.destroy();
      target.destroy();
    });
  }

  /** Resolves when that direction is over. */
  async #carry(pair: Pair, from: Socket, to: Socket): Promise<void> {
    try {
      for await (const bytes of from.iterator({ destroyOnReturn: false })) {
        if (this.delayMs > 0) await wait(this.delayMs);
        await this.#passes(pair);
        if (to.writable && !to.write(bytes)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
      }
      await this.#passes(pair);
      to.end();
    } catch {
      // A connection that breaks on one side breaks on the other.
      await this.#passes(pair);
      to.resetAndDestroy();
    }
  }

  async #passes({ from }: Pair): Promise<void> {
    while (this.#isHeld(from)) await this.#released.promise;
  }
}
