/** One confined process of ts/workers/run-code.ts, and what a program in it prints, answers and wants to be kept. */
import { fileURLToPath } from 'node:url';
import { ConfinedProcess } from '../../../native/confined-process.ts';

export interface CodeTask {
  readonly code: string;
  readonly files: readonly { readonly name: string; readonly base64: string }[];
}

export interface KeptText {
  readonly title: string;
  readonly content: string;
  readonly kind: string;
}

export interface CodeOutcome {
  /** The text that the program printed. */
  readonly output: string;
  /** The value that it returned, as text. */
  readonly result: string | undefined;
  readonly error: string | undefined;
  readonly kept: readonly KeptText[];
}

const SCRIPT = fileURLToPath(new URL('../../../../workers/run-code.ts', import.meta.url));
const JAVASCRIPT = { memoryMiB: 384, cpuSeconds: 300 };
/** Python's own interpreter takes about 200 MiB of it. The time is that of all programs that it runs one after the other. */
const PYTHON = { memoryMiB: 768, cpuSeconds: 1_800 };
const START_MS = 120_000;
const MAX_OUTPUT_CHARACTERS = 1024 * 1024;
const MAX_KEPT = 10;

type Message = Readonly<Record<string, unknown>>;

export class CodeProcess {
  readonly #process: ConfinedProcess;
  readonly #ready = Promise.withResolvers<void>();
  #output = '';
  #kept: KeptText[] = [];
  #ended: ((end: { result?: unknown; error?: unknown }) => void) | undefined;

  /** @param pythonFolder that of Pyodide; undefined: it runs JavaScript, once. */
  constructor(pythonFolder: string | undefined) {
    this.#ready.promise.catch(() => {});
    this.#process = new ConfinedProcess({
      script: SCRIPT,
      ...(pythonFolder === undefined ? JAVASCRIPT : { ...PYTHON, args: [pythonFolder], readable: [pythonFolder] }),
      onMessage: (message) => this.#receive(message),
      onEnd: () => {
        this.#ready.reject(new Error('it ended before it was ready'));
        this.#ended?.({
          error: 'The process ended before the program did: it left, or it took more memory or time than it may.',
        });
      },
    });
  }

  get isUsable(): boolean {
    return !this.#process.isOver;
  }

  /** One program at a time. One that is not over in its time ends the process, and so does the signal. */
  async run(task: CodeTask, seconds: number, signal: AbortSignal): Promise<CodeOutcome> {
    const { promise, resolve } = Promise.withResolvers<{ result?: unknown; error?: unknown }>();
    this.#output = '';
    this.#kept = [];
    this.#ended = resolve;
    const stop = (error: string): void => {
      resolve({ error });
      this.end();
    };
    const abort = (): void => stop('Nobody waits for the program any more.');
    let timer = setTimeout(() => stop('The interpreter did not start in its time.'), START_MS);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    try {
      await Promise.race([this.#ready.promise, promise]).catch(() => {});
      clearTimeout(timer);
      timer = setTimeout(() => stop(`The program did not end within ${seconds} s, and was ended.`), seconds * 1000);
      if (!this.isUsable) resolve({ error: 'The process could not be started, or ended at once.' });
      this.#process.send(task);
      const { result, error } = await promise;
      return { output: this.#output, result: textOf(result), error: textOf(error), kept: this.#kept };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      this.#ended = undefined;
    }
  }

  end(): void {
    this.#process.end();
  }

  /** The program may have written it itself: it is taken for what it says, and no more. */
  #receive(received: unknown): void {
    const { ready, done, output, artifact, result, error } = (received ?? {}) as Message;
    if (ready === true) this.#ready.resolve();
    if (typeof output === 'string') this.#output = (this.#output + output).slice(0, MAX_OUTPUT_CHARACTERS);
    const kept = keptOf(artifact);
    if (kept !== undefined && this.#kept.length < MAX_KEPT) this.#kept.push(kept);
    if (done === true) this.#ended?.({ result, error });
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, MAX_OUTPUT_CHARACTERS) : undefined;
}

function keptOf(value: unknown): KeptText | undefined {
  const { title, content, kind } = (value ?? {}) as Message;
  return typeof title === 'string' && typeof content === 'string' && typeof kind === 'string'
    ? { title, content, kind }
    : undefined;
}
