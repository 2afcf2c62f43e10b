/** A process of ts/workers/split-process.ts, as the node that started it sees it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { SplitNews, SplitSpec } from '../../../../workers/split-process.ts';

const SCRIPT = fileURLToPath(new URL('../../../../workers/split-process.ts', import.meta.url));
const KEPT_BYTES = 2_000;

export class SplitProcess {
  readonly #child: ChildProcess;
  #said = '';
  readonly #port = Promise.withResolvers<number>();
  readonly #ready = Promise.withResolvers<void>();
  /** Resolves to the last words of its program, once it is over. */
  readonly ended: Promise<string>;

  constructor(spec: SplitSpec) {
    this.#child = spawn(process.execPath, ['--no-warnings', SCRIPT], { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] });
    const { stdin, stdout, stderr } = this.#child;
    stdin?.on('error', () => undefined);
    (stdin as Writable).write(`${JSON.stringify(spec)}\n`);
    stderr?.on('data', (bytes: Buffer) => {
      this.#said = (this.#said + bytes.toString()).slice(-KEPT_BYTES);
    });
    if (stdout !== null) createInterface({ input: stdout }).on('line', (line) => this.#hear(JSON.parse(line) as SplitNews));
    this.ended = new Promise((resolve) => {
      this.#child.on('error', (error) => resolve(String(error)));
      this.#child.on('close', () => resolve(this.#said.trim().split('\n').slice(-3).join(' ')));
    });
    void this.ended.then((words) => {
      const error = new Error(`the process ended: ${words}`);
      this.#port.reject(error);
      this.#ready.reject(error);
    });
    for (const { promise } of [this.#port, this.#ready]) promise.catch(() => undefined);
  }

  /** Resolves to the port of its end of the tunnel. Rejects when it ends before. */
  get port(): Promise<number> {
    return this.#port.promise;
  }

  /** Resolves once its program works. Rejects when it ends before. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Resolves when its program is gone, too. */
  async end(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.ended;
  }

  #hear(news: SplitNews): void {
    if ('port' in news) this.#port.resolve(news.port);
    else this.#ready.resolve();
  }
}
