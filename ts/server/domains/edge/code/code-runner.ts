/**
 * Programs of callers in confined processes: JavaScript in one of its own, Python in one that a conversation keeps. A node runs a few at a time, of
 * which one tenant never has all, and keeps a few interpreters.
 */
import { FairPlaces } from '../../../platform/fair-places.ts';
import { type CodeOutcome, CodeProcess, type CodeTask } from './code-process.ts';

interface CodeRunnerOptions {
  readonly nAtOnce: number;
  readonly nKept: number;
}

interface CodeCall {
  readonly tenant: string;
  /** The conversation that keeps the interpreter; undefined: it is for this program alone. */
  readonly keptFor: string | undefined;
  /** The folder of Pyodide; undefined: the program is JavaScript. */
  readonly pythonFolder: string | undefined;
  readonly task: CodeTask;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

interface KeptPython {
  readonly process: CodeProcess;
  /** Resolves when the program that has it is over. */
  busy: Promise<unknown> | undefined;
  idleTimer: NodeJS.Timeout | undefined;
}

/** An interpreter that runs nothing for so long is ended. */
const IDLE_MS = 10 * 60 * 1000;

export class CodeRunner {
  readonly #places: FairPlaces;
  readonly #nKept: number;
  /** Those that were used last are behind. */
  readonly #kept = new Map<string, KeptPython>();
  readonly #running = new Set<CodeProcess>();

  constructor({ nAtOnce, nKept }: CodeRunnerOptions) {
    this.#places = new FairPlaces(nAtOnce, Math.max(1, nAtOnce - 1));
    this.#nKept = nKept;
  }

  async run(call: CodeCall): Promise<CodeOutcome> {
    const release = await this.#places.acquire(call.tenant);
    try {
      call.signal.throwIfAborted();
      const { keptFor, pythonFolder } = call;
      if (pythonFolder === undefined || keptFor === undefined) return await this.#runOnce(call);
      return await this.#runKept(call, keptFor, pythonFolder);
    } finally {
      release();
    }
  }

  /** Processes that are there. */
  get nProcesses(): number {
    return this.#running.size + [...this.#kept.values()].filter(({ busy }) => busy === undefined).length;
  }

  close(): void {
    for (const process of this.#running) process.end();
    for (const key of [...this.#kept.keys()]) this.#drop(key);
  }

  async #runOnce({ pythonFolder, task, seconds, signal }: CodeCall): Promise<CodeOutcome> {
    const process = new CodeProcess(pythonFolder);
    this.#running.add(process);
    try {
      return await process.run(task, seconds, signal);
    } finally {
      process.end();
      this.#running.delete(process);
    }
  }

  /** Programs of one conversation are run one after the other. */
  async #runKept(call: CodeCall, key: string, folder: string): Promise<CodeOutcome> {
    for (let before = this.#kept.get(key)?.busy; before !== undefined; before = this.#kept.get(key)?.busy) await before;
    const kept = this.#take(key, folder);
    if (kept === undefined) return await this.#runOnce(call);
    const { process } = kept;
    this.#running.add(process);
    const run = process.run(call.task, call.seconds, call.signal);
    kept.busy = run.catch(() => {});
    try {
      return await run;
    } finally {
      kept.busy = undefined;
      this.#running.delete(process);
      if (process.isUsable) kept.idleTimer = setTimeout(() => this.#drop(key), IDLE_MS).unref();
      else this.#drop(key);
    }
  }

  /** Undefined: as many as may be kept run a program. */
  #take(key: string, folder: string): KeptPython | undefined {
    const own = this.#kept.get(key);
    if (own !== undefined) {
      clearTimeout(own.idleTimer);
      this.#kept.delete(key);
      if (own.process.isUsable) {
        this.#kept.set(key, own);
        return own;
      }
    }
    if (this.#kept.size >= this.#nKept) {
      const idle = [...this.#kept].find(([, { busy }]) => busy === undefined);
      if (idle === undefined) return undefined;
      this.#drop(idle[0]);
    }
    const kept: KeptPython = { process: new CodeProcess(folder), busy: undefined, idleTimer: undefined };
    this.#kept.set(key, kept);
    return kept;
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key);
    clearTimeout(kept?.idleTimer);
    kept?.process.end();
    this.#kept.delete(key);
  }
}
