/**
 * One end of a model that is split over nodes, as a process of its own: it runs a program of llama.cpp and carries the program's connections to
 * another node, by TLS with the certificates of the nodes. It reads one line from its standard input, writes lines of JSON, and ends with its
 * program and with the process that started it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setPriority, constants as system } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { createServer as createTlsServer, type TLSSocket, connect as tlsConnect } from 'node:tls';

export interface SplitSpec {
  /** `{port}` stands for a free port, `{rpc}` for the local ends of the tunnels. */
  readonly command: { readonly file: string; readonly args: readonly string[] };
  readonly env: Readonly<Record<string, string>>;
  /** PEM: the certificate of this node, and its key. */
  readonly cert: string;
  readonly key: string;
  /** Where the program is reached from the other node, which shows one of these certificates. */
  readonly serve?: { readonly host: string; readonly port: number; readonly fingerprint: string; readonly idleMs: number };
  /** The tunnels to other nodes, which show one of these certificates. */
  readonly borrow?: readonly { readonly host: string; readonly port: number; readonly fingerprints: readonly string[] }[];
  /** The port whose `/health` tells that llama-server has begun. One that does not answer for so long while it works ends. */
  readonly health?: { readonly port: number; readonly key: string; readonly silentMs: number };
}

export type SplitNews = { readonly port: number } | { readonly isReady: true };

/** llama.cpp's client opens one connection after the other; the next one may come before the end of the last. */
const MOST_CONNECTIONS = 4;
const KEEP_ALIVE_MS = 5_000;
const HEALTH_MS = 200;
const HEALTH_LIMIT_MS = 2_000;
const LOOK_MS = 5_000;
/** A server of tensors listens once it has found its cards. */
const BEGIN_MS = 60_000;
const TLS = { minVersion: 'TLSv1.3', secureOptions: constants.SSL_OP_NO_TICKET, rejectUnauthorized: false } as const;

function tell(news: SplitNews): void {
  process.stdout.write(`${JSON.stringify(news)}\n`);
}

function fail(error: unknown): never {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
}

function join(a: Socket, b: Socket): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.setNoDelay(true);
    from.setKeepAlive(true, KEEP_ALIVE_MS);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}

function shows(socket: TLSSocket, fingerprints: readonly string[]): boolean {
  return fingerprints.includes(socket.getPeerX509Certificate()?.fingerprint256 ?? '');
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server, '127.0.0.1', 0);
  server.close();
  return port;
}

/** Tries again while the program does not listen yet. */
async function reach(port: number): Promise<Socket> {
  for (const end = performance.now() + BEGIN_MS; ; ) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return socket;
    } catch (error) {
      if (performance.now() > end) throw error;
      await wait(HEALTH_MS / 4);
    }
  }
}

async function serve({ cert, key }: SplitSpec, facts: NonNullable<SplitSpec['serve']>, programPort: number): Promise<void> {
  let nOpen = 0;
  let idle = setTimeout(() => fail('nobody asks'), facts.idleMs);
  const server = createTlsServer({ ...TLS, cert, key, requestCert: true, handshakeTimeout: 5_000 }, (socket) => {
    if (!shows(socket, [facts.fingerprint]) || nOpen === MOST_CONNECTIONS) {
      socket.destroy();
      return;
    }
    nOpen += 1;
    clearTimeout(idle);
    socket.pause();
    socket.on('error', () => undefined);
    socket.on('close', () => {
      nOpen -= 1;
      if (nOpen === 0) idle = setTimeout(() => fail('nobody asks any more'), facts.idleMs);
    });
    reach(programPort).then(
      (program) => join(socket, program),
      () => socket.destroy(),
    );
  });
  server.maxConnections = 2 * MOST_CONNECTIONS;
  server.on('error', fail);
  tell({ port: await listen(server, facts.host, facts.port) });
}

/** The local end of a tunnel: whoever connects there is at the other node's program. */
async function borrow({ cert, key }: SplitSpec, to: NonNullable<SplitSpec['borrow']>[number]): Promise<number> {
  const server = createServer((socket) => {
    socket.pause();
    socket.on('error', () => undefined);
    const far = tlsConnect({ ...TLS, cert, key, host: to.host, port: to.port }, () => {
      if (shows(far, to.fingerprints)) join(socket, far);
      else far.destroy();
    });
    far.on('error', () => undefined);
    far.on('close', () => socket.destroy());
    socket.on('close', () => far.destroy());
  });
  server.maxConnections = MOST_CONNECTIONS;
  return await listen(server, '127.0.0.1', 0);
}

async function watch({ port, key, silentMs }: NonNullable<SplitSpec['health']>): Promise<void> {
  const answers = (path: string, timeout: number): Promise<boolean> =>
    new Promise((resolve) => {
      const headers = { authorization: `Bearer ${key}` };
      const request = get({ host: '127.0.0.1', port, path, timeout, headers }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      request.on('timeout', () => request.destroy());
      request.on('error', () => resolve(false));
    });
  while (!(await answers('/health', HEALTH_LIMIT_MS))) await wait(HEALTH_MS);
  tell({ isReady: true });
  // Its loop answers this between two batches, so it says nothing while a server of tensors hangs. /health and /slots are answered all the same.
  while (await answers('/lora-adapters', silentMs)) await wait(Math.min(LOOK_MS, silentMs));
  fail('the program does not answer any more');
}

function start({ command, env }: SplitSpec, port: number, rpc: readonly number[]): ChildProcess {
  const ends = rpc.map((end) => `127.0.0.1:${end}`).join(',');
  const args = command.args.map((arg) => (arg === '{port}' ? String(port) : arg === '{rpc}' ? ends : arg));
  const child = spawn(command.file, args, { env, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout?.resume();
  // What it says last is told to the process that started us.
  child.stderr?.pipe(process.stderr, { end: false });
  child.on('error', fail);
  child.on('exit', (code, signal) => fail(`the program ended (${signal ?? code})`));
  if (child.pid !== undefined) setPriority(child.pid, system.priority.PRIORITY_BELOW_NORMAL);
  return child;
}

async function run(spec: SplitSpec): Promise<void> {
  const rpc: number[] = [];
  for (const to of spec.borrow ?? []) rpc.push(await borrow(spec, to));
  const port = await freePort();
  const child = start(spec, port, rpc);
  process.on('exit', () => child.kill('SIGKILL'));
  if (spec.serve !== undefined) await serve(spec, spec.serve, port);
  if (spec.health !== undefined) await watch(spec.health);
}

const lines = createInterface({ input: process.stdin });
lines.once('line', (line) => void run(JSON.parse(line) as SplitSpec).catch(fail));
lines.once('close', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
