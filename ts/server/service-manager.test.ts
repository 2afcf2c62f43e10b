/** A node that a service manager runs: sockets that outlive it, and what it tells. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { program } from '../cli/run-cli.ts';
import { createSelfSigned } from './platform/http/self-signed.ts';

/** A program that holds the socket, and the node that it starts, one after the other. */
class Manager {
  readonly #process;
  #output = '';

  constructor(t: Test, environment: Record<string, string> = {}) {
    const root = t.testdir({ models: {} });
    const holder = join(import.meta.dirname, 'test-support/socket-holder.py');
    const node = [process.execPath, program, 'serve'];
    const settings = {
      SVC_DATA_DIR: join(root, 'data'),
      SVC_MODELS_DIR: join(root, 'models'),
      SVC_DEFAULT_MODEL: 'none',
      SVC_FORCE_CPU_FEATURES: 'none',
    };
    this.#process = spawn('python3', [holder, ...node], { env: { ...process.env, ...settings, ...environment } });
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString();
      });
    t.teardown(() => this.#process.kill('SIGKILL'));
  }

  /** The first group of the pattern in what came since the last call that found something. */
  async find(pattern: RegExp): Promise<string> {
    for (const deadline = performance.now() + 40_000; performance.now() < deadline; await wait(20)) {
      const found = pattern.exec(this.#output);
      if (!found) continue;
      this.#output = this.#output.slice(found.index + found[0].length);
      return found[1] ?? '';
    }
    throw new Error(`${pattern} did not come:\n${this.#output}`);
  }

  async start(t: Test): Promise<number> {
    this.#process.stdin.write('start\n');
    const pid = Number(await this.find(/^(\d+)\n/m));
    t.teardown(() => {
      if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    });
    return pid;
  }
}

function isRunning(pid: number): boolean {
  return spawnSync('ps', ['-o', 'stat=', '-p', `${pid}`], { encoding: 'utf8' }).stdout.match(/^[^Z]/) !== null;
}

async function stop(pid: number): Promise<void> {
  process.kill(pid, 'SIGTERM');
  while (isRunning(pid)) await wait(20);
}

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (process.platform !== 'linux' || !hasPython) t.plan(0, 'needs Linux and python3');
else {
  t.test('a connection that comes between two processes is answered by the second', async (t) => {
    const manager = new Manager(t);
    const port = Number(await manager.find(/^(\d+)\n/m));
    const ask = () => fetch(`http://127.0.0.1:${port}/livez`).then(({ status }) => status);
    const first = await manager.start(t);
    await manager.find(/"listening"/);
    t.equal(await ask(), 200);
    await stop(first);
    const waiting = ask();
    const second = await manager.start(t);
    t.equal(Number(await manager.find(/"listening"[^\n]*"port":(\d+)[^\n]*\n/)), port, 'the second says where it listens');
    t.equal(await waiting, 200);
    await stop(second);
  });

  t.test('a socket of the public listener speaks TLS', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const { certFile, keyFile } = await createSelfSigned({ folder });
    const tls = { SVC_PUBLIC_TLS_CERT: certFile, SVC_PUBLIC_TLS_KEY: keyFile, SVC_LISTEN: '127.0.0.1:0' };
    const manager = new Manager(t, { LISTEN_FDNAMES: 'public', ...tls });
    const port = Number(await manager.find(/^(\d+)\n/m));
    const node = await manager.start(t);
    await manager.find(/told (READY=1)/);
    const [response] = await once(get({ host: '127.0.0.1', port, path: '/livez', ca: readFileSync(certFile) }), 'response');
    t.equal((response as IncomingMessage).statusCode, 200);
    await stop(node);
  });

  t.test('the service manager hears that the node is ready, that its event loop turns, and that it stops', async (t) => {
    const manager = new Manager(t, { WATCHDOG_USEC: '900000' });
    await manager.find(/^(\d+)\n/m);
    const node = await manager.start(t);
    await manager.find(/told (READY=1)/);
    await manager.find(/told (WATCHDOG=1)/);
    const stopped = stop(node);
    await manager.find(/told (STOPPING=1)/);
    await stopped;
    t.pass('it told all three');
  });
}
