/** One way to a syslog server: datagrams, a TCP connection, or one under TLS. */
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { lookup as systemLookup } from 'node:dns';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { AddressPolicy } from '../../platform/network/address-policy.ts';
import { datagramOf, frameOf } from './syslog-line.ts';
import { addressOf, type Target } from './target.ts';

/** Paths of PEM files; empty ones are not used. */
export interface TlsFiles {
  ca: string;
  cert: string;
  key: string;
}

/** Counts what became of lines. A connection that breaks says nothing of them: they are sent again over the next one. */
export interface SendOutcome {
  nSent: number;
  nLost: number;
  error?: Error;
}

export interface Connection {
  /** False: another one is to be opened. */
  readonly isOpen: boolean;
  /** Rejects where the connection breaks before all lines are out; some may have arrived. */
  send(lines: readonly string[]): Promise<SendOutcome>;
  /** Ends it; bytes that are written already still go out. */
  close(): void;
}

interface ConnectionOptionsOfTarget {
  target: Target;
  files: TlsFiles;
  /** Where somebody else than the operator of the machine named the server. */
  policy: AddressPolicy | undefined;
  /** Breaks the connection, also one that is still to be opened. */
  signal: AbortSignal;
  /** Hears of what goes wrong while nothing is sent. */
  onError(error: Error): void;
}

const OPEN_LIMIT_MS = 5_000;
/** A server that takes nothing for so long is left. */
const STALLED_MS = 30_000;
const REFUSED_WITHIN_MS = 300;
const KEEP_ALIVE_MS = 30_000;
/** The name of a server is looked up again after so long. */
const LOOKED_UP_MS = 300_000;

/** Rejects where the server is not reached, or may not be asked. */
export async function openConnection(options: ConnectionOptionsOfTarget): Promise<Connection> {
  const { policy, target } = options;
  if (policy !== undefined) requireAllowed(policy, target);
  const lookup = policy?.lookupFor(urlOf(target));
  return await (target.protocol === 'udp' ? openDatagrams(options, lookup) : openStream(options, lookup));
}

/** Judges what the target itself tells; names are judged when they are looked up. */
export function requireAllowed(policy: AddressPolicy, target: Target): void {
  try {
    policy.check(urlOf(target));
  } catch {
    throw new Error(`${addressOf(target)} lies inside the network, and the operator has not named it in syslog.allowed_hosts.`);
  }
}

/** The form in which the policy of addresses takes a host and a port. */
function urlOf({ host, port }: Target): URL {
  return new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`);
}

async function openDatagrams(
  { target, signal, onError }: ConnectionOptionsOfTarget,
  lookup: LookupFunction = systemLookup,
): Promise<Connection> {
  const { address, family } = await resolveBy(lookup, target.host);
  signal.throwIfAborted();
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  socket.unref();
  const connected = once(socket, 'connect', { signal });
  socket.connect(target.port, address);
  try {
    await connected;
  } catch (error) {
    socket.close();
    throw error;
  }
  // That nobody listens there is told by a later packet, if at all.
  socket.on('error', onError);
  return new Datagrams(socket, signal);
}

class Datagrams implements Connection {
  readonly #socket: DatagramSocket;
  readonly #staleAt = performance.now() + LOOKED_UP_MS;
  #isClosed = false;

  constructor(socket: DatagramSocket, signal: AbortSignal) {
    this.#socket = socket;
    const leave = (): void => this.close();
    signal.addEventListener('abort', leave);
    socket.once('close', () => signal.removeEventListener('abort', leave));
  }

  get isOpen(): boolean {
    return !this.#isClosed && performance.now() < this.#staleAt;
  }

  async send(lines: readonly string[]): Promise<SendOutcome> {
    if (this.#isClosed) throw new Error('the socket is closed');
    const errors = await Promise.all(lines.map((line) => this.#sendOne(datagramOf(line))));
    const [error, ...more] = errors.filter((each) => each !== undefined);
    const nLost = error === undefined ? 0 : more.length + 1;
    return { nSent: lines.length - nLost, nLost, ...(error && { error }) };
  }

  close(): void {
    if (!this.#isClosed) this.#socket.close();
    this.#isClosed = true;
  }

  #sendOne(bytes: Buffer): Promise<Error | undefined> {
    return new Promise((resolve) => this.#socket.send(bytes, (error) => resolve(error ?? undefined)));
  }
}

function resolveBy(lookup: LookupFunction, host: string): Promise<{ address: string; family: number | undefined }> {
  return new Promise((resolve, reject) =>
    lookup(host, {}, (error, address, family) => (error ? reject(error) : resolve({ address: String(address), family }))),
  );
}

async function openStream(
  { target, files, signal, onError }: ConnectionOptionsOfTarget,
  lookup: LookupFunction | undefined,
): Promise<Connection> {
  const { host, port, protocol } = target;
  const where = { host, port, ...(lookup && { lookup }) };
  const own = protocol === 'tls' ? await tlsOptions(host, files) : undefined;
  signal.throwIfAborted();
  const socket = own === undefined ? connect(where) : connectTls({ ...where, ...own });
  socket.unref();
  const stream = new Stream(socket, signal, onError);
  const limit = setTimeout(() => socket.destroy(new Error(`no connection within ${OPEN_LIMIT_MS / 1000} s`)), OPEN_LIMIT_MS);
  try {
    await once(socket, own === undefined ? 'connect' : 'secureConnect');
  } finally {
    clearTimeout(limit);
  }
  stream.opened();
  // A server that refuses the certificate of this node says so behind the handshake: what was written until then would be lost.
  if (own !== undefined) await wait(REFUSED_WITHIN_MS, undefined, { ref: false });
  if (!stream.isOpen) throw socket.errored ?? new Error('the server closed the connection');
  return stream;
}

/** Files are read each time, so that a renewed certificate holds with the next connection. */
async function tlsOptions(host: string, { ca, cert, key }: TlsFiles): Promise<ConnectionOptions> {
  const read = async (path: string): Promise<Buffer | undefined> => (path === '' ? undefined : await readFile(path));
  const [authorities, certificate, privateKey] = await Promise.all([read(ca), read(cert), read(key)]);
  return {
    servername: isIP(host) > 0 ? '' : host,
    rejectUnauthorized: authorities !== undefined,
    ...(authorities !== undefined && { ca: authorities }),
    ...(certificate !== undefined && { cert: certificate }),
    ...(privateKey !== undefined && { key: privateKey }),
  };
}

class Stream implements Connection {
  readonly #socket: Socket;
  /** It is open, and nothing waits for it that would be told of an error. */
  #isIdle = false;

  constructor(socket: Socket, signal: AbortSignal, onError: (error: Error) => void) {
    this.#socket = socket;
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.on('error', (error) => this.#isIdle && onError(error));
    const leave = (): void => void socket.destroy(new Error('the connection is given up'));
    signal.addEventListener('abort', leave);
    socket.once('close', () => signal.removeEventListener('abort', leave));
  }

  opened(): void {
    this.#isIdle = true;
    // What a server says to a sender of lines is of no use; unread, it would end the connection with a reset.
    this.#socket.resume();
    // A server that has ended its side takes nothing more, and would not say so.
    this.#socket.on('end', () => this.#socket.destroy());
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  send(lines: readonly string[]): Promise<SendOutcome> {
    const socket = this.#socket;
    const sent = Promise.withResolvers<SendOutcome>();
    const stalled = setTimeout(() => socket.destroy(new Error(`the server took nothing for ${STALLED_MS / 1000} s`)), STALLED_MS);
    stalled.unref();
    const onClose = (): void => sent.reject(socket.errored ?? new Error('the connection was closed'));
    socket.once('close', onClose);
    this.#isIdle = false;
    socket.write(Buffer.concat(lines.map(frameOf)), (error) => {
      if (error) sent.reject(error);
      else sent.resolve({ nSent: lines.length, nLost: 0 });
    });
    return sent.promise.finally(() => {
      clearTimeout(stalled);
      socket.off('close', onClose);
      this.#isIdle = true;
    });
  }

  close(): void {
    if (this.#isIdle) this.#socket.destroySoon();
    else this.#socket.destroy();
  }
}
