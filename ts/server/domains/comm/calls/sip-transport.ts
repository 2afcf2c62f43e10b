/** The way to an account's SIP server, over UDP, TCP or TLS. What does not come from there is not heard. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect as connectPlain, isIP, type LookupFunction } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { lengthOf, parseSip, type SipMessage } from './sip-message.ts';

export const TRANSPORTS = ['udp', 'tcp', 'tls'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

export interface SipTransport {
  readonly name: TransportName;
  /** Nothing is lost on the way, so nothing is repeated. */
  readonly isReliable: boolean;
  /** The address of this side, where the other one sends to. */
  readonly host: string;
  readonly port: number;
  readonly remoteHost: string;
  send(message: Buffer): void;
  /** Called for each message, in order. */
  onMessage: (message: SipMessage) => void;
  /** Called once, when the connection failed or ended; not for close(). */
  onEnd: (error: Error) => void;
  close(): void;
}

interface TransportOptions {
  readonly transport: TransportName;
  readonly host: string;
  readonly port: number;
  /** Resolves names to addresses that may be reached. */
  readonly lookup: LookupFunction;
  readonly timeoutMs: number;
  /** PEM of certificates that are trusted beside the system's, for tests. */
  readonly ca?: string | undefined;
}

/** Rejects where the server cannot be reached; UDP tells nothing of that. */
export async function openTransport(options: TransportOptions): Promise<SipTransport> {
  return options.transport === 'udp' ? await openDatagrams(options) : await openStream(options);
}

async function openDatagrams({ host, port, lookup }: TransportOptions): Promise<SipTransport> {
  const address = await resolve(host, lookup);
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4');
  // Connected, so that the kernel passes on what the server itself sends.
  socket.connect(port, address);
  await once(socket, 'connect');
  const local = socket.address();
  const transport: SipTransport = {
    name: 'udp',
    isReliable: false,
    host: local.address,
    port: local.port,
    remoteHost: address,
    send: (message) => socket.send(message, () => undefined),
    onMessage: () => undefined,
    onEnd: () => undefined,
    close: () => socket.close(),
  };
  // A port that nobody listens at answers with ICMP: as lost as any other datagram.
  socket.on('error', () => undefined);
  socket.on('message', (bytes) => {
    const message = parseSip(bytes);
    if (message !== undefined) transport.onMessage(message);
  });
  return transport;
}

async function openStream({ transport: name, host, port, lookup, timeoutMs, ca }: TransportOptions): Promise<SipTransport> {
  const isSecure = name === 'tls';
  const socket = isSecure
    ? connectSecure({ host, port, lookup, ca, ...(isIP(host) === 0 && { servername: host }) })
    : connectPlain({ host, port, lookup });
  const timer = setTimeout(() => socket.destroy(new Error('no connection in time')), timeoutMs);
  try {
    await once(socket, isSecure ? 'secureConnect' : 'connect');
  } finally {
    clearTimeout(timer);
  }
  let isClosed = false;
  let held = Buffer.alloc(0);
  const transport: SipTransport = {
    name,
    isReliable: true,
    host: socket.localAddress ?? '',
    port: socket.localPort ?? 0,
    remoteHost: socket.remoteAddress ?? '',
    send: (message) => void socket.write(message),
    onMessage: () => undefined,
    onEnd: () => undefined,
    close: () => {
      isClosed = true;
      socket.end();
      socket.destroySoon();
    },
  };
  const end = (error: Error): void => {
    if (!isClosed) transport.onEnd(error);
    isClosed = true;
  };
  socket.on('error', end);
  socket.on('close', () => end(new Error('the server ended the connection')));
  socket.on('data', (bytes) => {
    held = Buffer.concat([held, bytes]);
    try {
      for (;;) {
        // Empty lines between messages keep connections open (RFC 5626 section 3.5.1).
        while (held.length >= 2 && held[0] === 13 && held[1] === 10) held = held.subarray(2);
        const length = lengthOf(held);
        if (length === undefined || held.length < length) return;
        const message = parseSip(held.subarray(0, length));
        held = held.subarray(length);
        if (message !== undefined) transport.onMessage(message);
      }
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
  return transport;
}

function resolve(host: string, lookup: LookupFunction): Promise<string> {
  if (isIP(host) !== 0) return Promise.resolve(host);
  return new Promise((done, fail) =>
    lookup(host, { all: false }, (error, address) => (error === null ? done(String(address)) : fail(error))),
  );
}
