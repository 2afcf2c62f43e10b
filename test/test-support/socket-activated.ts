/** Nodes that a service manager starts one after the other on one listening socket: what `systemctl restart` does behind svc.socket. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const holder = join(import.meta.dirname, '../../ts/server/test-support/socket-holder.py');

export class SocketActivated {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #output: () => string;

  /** `command` starts a node that stays in the foreground. The caller closes it. */
  static async open(command: readonly string[], env: NodeJS.ProcessEnv): Promise<SocketActivated> {
    const child = spawn('python3', [holder, ...command], { env, stdio: ['pipe', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    const port = await found(() => output, /^(\d+)\n/m);
    return new SocketActivated(child, `http://127.0.0.1:${port}`, () => output);
  }

  private constructor(child: ChildProcess, url: string, output: () => string) {
    this.#process = child;
    this.url = url;
    this.#output = output;
  }

  /** Everything that the nodes logged. */
  get log(): string {
    return this.#output();
  }

  /** Its process id, when it says that it is ready. */
  async start(): Promise<number> {
    const before = this.#output().length;
    this.#process.stdin?.write('start\n');
    const pid = Number(await found(() => this.#output().slice(before), /^(\d+)\n/m));
    await found(() => this.#output().slice(before), /told (READY=1)/);
    return pid;
  }

  /** SIGTERM, then the end of the process, as the service manager waits for it. */
  async stop(pid: number): Promise<void> {
    process.kill(pid, 'SIGTERM');
    while (isRunning(pid)) await wait(10);
  }

  async close(): Promise<void> {
    this.#process.kill('SIGKILL');
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, 'exit');
  }
}

/** The holder reaps its programs only when it starts the next one, so a zombie is one that ended. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !/^State:\s+Z/m.test(statusOf(pid));
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return 'State: Z';
  }
}

async function found(text: () => string, pattern: RegExp): Promise<string> {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await wait(10)) {
    const [, group] = pattern.exec(text()) ?? [];
    if (group !== undefined) return group;
  }
  throw new Error(`${pattern} did not come:\n${text().slice(-5000)}`);
}
