/** Lines that the service sends through its own listeners: what rsyslog accepts as a configuration tells nothing of what it receives. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { connect, isIPv6, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { Listener } from './collection-config.ts';
import { CANARY_CLASS } from './copy-files.ts';

/** The service shows it to listeners that ask for a certificate. */
export interface ClientCertificate {
  cert: string;
  key: string;
}

const ARRIVAL_MS = 5_000;
const AGAIN_MS = 250;
const CONNECT_MS = 1_000;

interface CanaryParts {
  listeners: readonly Listener[];
  copies: readonly string[];
  /** Each of them holds it. */
  token: string;
  certificate: ClientCertificate | undefined;
}

/** Undefined: a line through each listener is in both copies. Otherwise one sentence for each that is not. */
export async function missingCanaries({ listeners, copies, token, certificate }: CanaryParts): Promise<string | undefined> {
  const deadline = performance.now() + ARRIVAL_MS;
  const found = await Promise.all(
    listeners.map(async (listener, i) => {
      const text = `${token}-${Date.now()}-${i}`;
      let fault = '';
      while (performance.now() < deadline) {
        fault = await sendCanary(listener, text, certificate).then(
          () => '',
          (error: Error) => ` (${error.message})`,
        );
        await wait(AGAIN_MS);
        const missing = await copiesWithout(copies, text);
        if (missing.length === 0) return undefined;
        fault = fault === '' ? ` in ${missing.join(' and ')}` : fault;
      }
      return `A line through ${listener.protocol} ${listener.address}:${listener.port} did not arrive${fault}.`;
    }),
  );
  const faults = found.filter((fault) => fault !== undefined);
  return faults.length === 0 ? undefined : faults.join('\n');
}

async function copiesWithout(copies: readonly string[], text: string): Promise<string[]> {
  const holds = await Promise.all(
    copies.map(async (copy) => {
      const folder = join(copy, CANARY_CLASS);
      const names = (await readdir(folder).catch(() => [])).sort().slice(-2);
      const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')));
      // A number is not to be found in a longer one.
      return texts.some((lines) => lines.includes(`${text} `));
    }),
  );
  return copies.filter((_, i) => holds[i] === false);
}

async function sendCanary({ protocol, address, port }: Listener, text: string, certificate?: ClientCertificate): Promise<void> {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  const line = `<46>1 - - svc-kernel - - - ${text} of svc`;
  if (protocol === 'udp') return await sendDatagram(host, port, line);
  const socket =
    protocol === 'tls' ? connectTls({ host, port, rejectUnauthorized: false, ...certificate }) : connect({ host, port });
  socket.on('error', () => undefined);
  const limit = setTimeout(() => socket.destroy(new Error('nobody answers')), CONNECT_MS);
  try {
    await once(socket, protocol === 'tls' ? 'secureConnect' : 'connect');
    if (protocol === 'relp') await sayRelp(socket, line);
    else await new Promise((resolve) => socket.end(`${Buffer.byteLength(line)} ${line}`, () => resolve(undefined)));
    socket.resume();
    await wait(20);
  } finally {
    clearTimeout(limit);
    socket.destroy();
  }
}

async function sendDatagram(host: string, port: number, line: string): Promise<void> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  try {
    await new Promise<void>((resolve, reject) => socket.send(line, port, host, (error) => (error ? reject(error) : resolve())));
  } finally {
    socket.close();
  }
}

/** One message in a session of its own: https://github.com/rsyslog/librelp/blob/master/doc/relp.html says how. */
async function sayRelp(socket: Socket, line: string): Promise<void> {
  const offers = 'relp_version=0\nrelp_software=svc\ncommands=syslog';
  for (const [number, [command, data]] of [['open', offers] as const, ['syslog', line] as const].entries()) {
    socket.write(`${number + 1} ${command} ${Buffer.byteLength(data)} ${data}\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    if (!/^\d+ rsp \d+ 200 /.test(answer.toString())) throw new Error(`RELP answers ${answer.toString().slice(0, 80).trim()}`);
  }
  socket.write('3 close 0\n');
}
