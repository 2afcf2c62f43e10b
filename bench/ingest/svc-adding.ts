/** `svc kb add FOLDER` as an operator runs it, interrupted by Ctrl-C. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { readUsage } from '../process-usage.ts';
import type { Adding } from './adding.ts';
import type { MadeFiles } from './made-files.ts';
import { post } from './probes.ts';

const cli = join(import.meta.dirname, '../../ts/cli/svc.ts');
const NAMESPACE = 'bench';
const USAGE_MS = 500;

export class SvcAdding implements Adding {
  readonly #url: string;
  readonly #files: MadeFiles;
  #cpuSeconds = 0;

  constructor(url: string, files: MadeFiles) {
    this.#url = url;
    this.#files = files;
  }

  async run(signal: AbortSignal): Promise<number> {
    const args = ['--no-warnings', cli, 'kb', 'add', this.#files.folder, '--namespace', NAMESPACE, '--url', this.#url, '--json'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let complaint = '';
    child.stdout.on('data', (piece) => (output += piece));
    child.stderr.on('data', (piece) => (complaint = (complaint + piece).slice(-2_000)));
    signal.addEventListener('abort', () => child.kill('SIGINT'));
    let cpuSeconds = 0;
    const watch = setInterval(() => (cpuSeconds = Math.max(cpuSeconds, readUsage(child.pid ?? 0).cpuSeconds)), USAGE_MS);
    const [code] = (await once(child, 'close')) as [number | null];
    clearInterval(watch);
    this.#cpuSeconds += cpuSeconds;
    if (signal.aborted) return 0;
    if (code !== 0) throw new Error(`svc kb add ended with ${code}: ${complaint}`);
    return (JSON.parse(output) as { unchanged: number }).unchanged;
  }

  async count(): Promise<number> {
    const { data } = (await (await fetch(`${this.#url}/api/v1/vector/namespaces/default`)).json()) as {
      data: { namespace: string; documents: number }[];
    };
    return data.find(({ namespace }) => namespace === NAMESPACE)?.documents ?? 0;
  }

  async search(query: string): Promise<void> {
    // Before the first file there is nothing to search.
    if ((await this.#isThere()) === false) return;
    await post(`${this.#url}/api/v1/vector/search`, { tenant: 'default', namespace: NAMESPACE, query, top_k: 4 });
  }

  cpuSeconds(): number {
    return this.#cpuSeconds;
  }

  #known = false;
  async #isThere(): Promise<boolean> {
    this.#known ||= (await this.count()) > 0;
    return this.#known;
  }
}
