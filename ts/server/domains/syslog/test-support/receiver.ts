/** A syslog server for tests: it keeps what arrives, and misbehaves where it is told to. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { Test } from 'tap';
import type { CertificateFiles } from '../../../platform/http/listen/certificate.ts';
import { eventually } from '../../../platform/http/test-support/test-bed.ts';
import type { Protocol } from '../target.ts';

export interface Receiver {
  readonly port: number;
  /** Messages as they came, without the count of their octets. */
  readonly lines: string[];
  /** The bytes of each. */
  readonly sizes: number[];
  nConnections: number;
  /** `resets`: as soon as a connection has sent something. `deaf`: nothing is ever read. */
  behaviour: 'reads' | 'resets' | 'deaf';
  /** Cuts the connections that there are. */
  cut(): void;
  close(): Promise<void>;
}

interface ReceiverOptions {
  /** 0: any that is free. */
  port?: number;
  certificate?: CertificateFiles;
  tls?: TlsOptions;
  behaviour?: Receiver['behaviour'];
}

export async function openReceiver(t: Test, protocol: Protocol, options: ReceiverOptions = {}): Promise<Receiver> {
  return protocol === 'udp' ? await openDatagrams(t, options) : await openStreams(t, options);
}

async function openDatagrams(t: Test, { port = 0 }: ReceiverOptions): Promise<Receiver> {
  const socket = createSocket('udp4');
  const [lines, sizes]: [string[], number[]] = [[], []];
  socket.on('message', (message) => {
    lines.push(message.toString());
    sizes.push(message.length);
  });
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) socket.close();
    isOpen = false;
  };
  t.teardown(close);
  return { port: socket.address().port, lines, sizes, nConnections: 0, behaviour: 'reads', cut: () => {}, close };
}

async function openStreams(t: Test, { port = 0, certificate, tls, behaviour = 'reads' }: ReceiverOptions): Promise<Receiver> {
  const sockets = new Set<Socket>();
  const accept = (socket: Socket): void => {
    receiver.nConnections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    if (receiver.behaviour === 'deaf') return void socket.pause();
    let held = Buffer.alloc(0);
    socket.on('data', (data) => {
      if (receiver.behaviour === 'resets') return void socket.resetAndDestroy();
      held = takeFrames(Buffer.concat([held, data]), receiver);
    });
  };
  const server: Server =
    certificate === undefined
      ? createServer(accept)
      : createTlsServer({ cert: readFileSync(certificate.certFile), key: readFileSync(certificate.keyFile), ...tls }, accept);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const close = async (): Promise<void> => {
    cut();
    await new Promise((resolve) => server.close(resolve));
  };
  t.teardown(close);
  const receiver: Receiver = {
    port: (server.address() as AddressInfo).port,
    lines: [],
    sizes: [],
    nConnections: 0,
    behaviour,
    cut,
    close,
  };
  return receiver;
}

/** Returns what is no whole frame yet. Throws where a count is none. */
function takeFrames(bytes: Buffer, { lines, sizes }: Pick<Receiver, 'lines' | 'sizes'>): Buffer<ArrayBuffer> {
  let at = 0;
  for (;;) {
    const space = bytes.indexOf(' ', at);
    const text = bytes.toString('latin1', at, space < 0 ? bytes.length : space);
    if (!/^\d{0,5}$/.test(text)) throw new Error(`no count of octets: ${text.slice(0, 80)}`);
    const end = space + 1 + Number(text);
    if (space < 0 || end > bytes.length) return Buffer.from(bytes.subarray(at));
    lines.push(bytes.toString('utf8', space + 1, end));
    sizes.push(end - space - 1);
    at = end;
  }
}

/** RFC 5424 as the node writes it: priority, time, host, process, text. */
export const LINE = /^<(\d{1,3})>1 (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([!-~]{1,255}) svc-kernel (\d+) - - (\S[\s\S]*)$/;

export function textsOf({ lines }: Receiver): string[] {
  return lines.map((line) => LINE.exec(line)?.[5] ?? `not RFC 5424: ${line}`);
}

/** Waits until a line arrives that holds the text. */
export async function arrival(receiver: Receiver, text: string, withinMs?: number): Promise<string> {
  await eventually(() => receiver.lines.some((line) => line.includes(text)), withinMs);
  return receiver.lines.find((line) => line.includes(text)) ?? '';
}
