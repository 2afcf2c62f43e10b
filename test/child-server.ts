/** A server in a process of its own, for black-box tests and for the bench: started, waited for, stopped by its pid. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface ChildServerOptions {
  program: string;
  args: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** Base address, for example http://127.0.0.1:8880. */
  url: string;
  /** Answers 200 once the server takes work. */
  readyPath: string;
  readyWithinMs?: number;
}

export class ChildServer {
  readonly url: string;
  /** Milliseconds from the start of the process until it answered HTTP with anything. */
  httpMs = Number.NaN;
  readonly #process: ChildProcess;
  readonly #exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** What the server prints goes to a file: reading a pipe would take CPU from what is measured. */
  readonly #logFolder = mkdtempSync(join(tmpdir(), 'svc-child-'));

  /** Resolves when the server is ready. Throws with what the server printed when it ends or stays silent. */
  static async start(options: ChildServerOptions): Promise<ChildServer> {
    const server = new ChildServer(options);
    try {
      await server.#waitUntilReady(options.readyPath, options.readyWithinMs ?? 60_000);
      return server;
    } catch (error) {
      await server.stop('SIGKILL');
      throw error;
    }
  }

  private constructor({ program, args, env = process.env, url }: ChildServerOptions) {
    this.url = url;
    const output = openSync(join(this.#logFolder, 'log'), 'a');
    this.#process = spawn(program, args, { env, stdio: ['ignore', output, output] });
    closeSync(output);
    this.#exited = once(this.#process, 'exit').then(([code, signal]) => ({ code, signal }));
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** The last 20,000 characters that the server printed; empty once it is stopped. */
  get log(): string {
    try {
      return readFileSync(join(this.#logFolder, 'log'), 'utf8').slice(-20_000);
    } catch {
      return '';
    }
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Sends the signal and waits for the end; a server that ignores it for so long is killed. */
  async stop(
    signal: NodeJS.Signals = 'SIGTERM',
    withinMs = 30_000,
  ): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    if (this.running) this.#process.kill(signal);
    const killer = setTimeout(() => this.#process.kill('SIGKILL'), withinMs);
    try {
      return await this.#exited;
    } finally {
      clearTimeout(killer);
      rmSync(this.#logFolder, { recursive: true, force: true });
    }
  }

  async #waitUntilReady(path: string, withinMs: number): Promise<void> {
    const began = performance.now();
    while (performance.now() < began + withinMs) {
      if (!this.running) throw new Error(`the server ended before it was ready:\n${this.log}`);
      const status = await statusOf(this.url + path);
      if (status !== undefined && Number.isNaN(this.httpMs)) this.httpMs = performance.now() - began;
      if (status === 200) return;
      await new Promise((resolve) => setTimeout(resolve, status === undefined ? 5 : 20));
    }
    throw new Error(`the server was not ready within ${withinMs} ms:\n${this.log}`);
  }
}

/** Undefined: nothing answers. */
async function statusOf(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}

/** Below what systems give to connections and to listeners on port 0, so that none of those gets it before the server has it. */
const firstPort = 10_000;
const nPorts = 22_000;
/** Processes whose ids are near each other, as those that run at once have, look in different places. */
const portsAProcess = 16;
let nAsked = 0;

/** A TCP port of 127.0.0.1 that was free a moment ago, and that nobody gets by chance. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < nPorts; attempt += 1) {
    const port = firstPort + ((process.pid * portsAProcess + nAsked++) % nPorts);
    if (await isFree(port)) return port;
  }
  throw new Error('no port is free');
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch {
    return false;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
