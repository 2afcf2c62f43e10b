/** A Node program that runs confined and talks in lines of JSON: it reads them from its standard input and writes them to its standard output. */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import type { Writable } from 'node:stream';
import { type Confinement, confinedCommand } from './confinement.ts';

interface ConfinedProcessOptions extends Omit<Confinement, 'readable' | 'withoutDevices'> {
  /** The program: one file that imports nothing but Node's own modules. */
  readonly script: string;
  readonly args?: readonly string[];
  /** Files and folders that it reads beside itself. */
  readonly readable?: readonly string[];
  /** A message is any JSON value: the program may be whoever wrote what it runs. */
  onMessage(message: unknown): void;
  /** It is over, and no more messages come. */
  onEnd(): void;
}

/** A longer line, or one that is no JSON, ends the process. */
const MAX_LINE_BYTES = 2 * 1024 * 1024;
/** So does one that has written this much since it was last sent something. */
const MAX_WRITTEN_BYTES = 16 * 1024 * 1024;

export class ConfinedProcess {
  readonly #child: ChildProcess;
  readonly #input: Writable;
  readonly #options: ConfinedProcessOptions;
  #line: Buffer[] = [];
  #nLineBytes = 0;
  #nWrittenBytes = 0;
  #isOver = false;

  constructor(options: ConfinedProcessOptions) {
    this.#options = options;
    const { script, args = [], memoryMiB, cpuSeconds, readable = [] } = options;
    // With the trap handler, V8 reserves more address space for each WebAssembly memory than the process may have.
    const program = [process.execPath, '--no-warnings', '--disable-wasm-trap-handler', script, ...args];
    const confinement = { memoryMiB, cpuSeconds, readable: [script, ...readable], withoutDevices: true };
    const command = confinedCommand(program, confinement);
    this.#child = spawn(command.file, command.args, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] });
    this.#input = this.#child.stdin as Writable;
    // What goes wrong shows at its end.
    this.#input.on('error', () => {});
    this.#child.stdout?.on('data', (bytes: Buffer) => this.#read(bytes)).on('error', () => {});
    this.#child.on('error', () => this.#over()).on('close', () => this.#over());
    if (this.#child.pid !== undefined) putLast(this.#child.pid);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  send(message: unknown): void {
    this.#nWrittenBytes = 0;
    if (!this.#isOver) this.#input.write(`${JSON.stringify(message)}\n`);
  }

  /** `onEnd` is called before it returns. */
  end(): void {
    this.#child.kill('SIGKILL');
    this.#over();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onEnd();
  }

  #read(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#nWrittenBytes += bytes.length;
    let at = 0;
    for (let end = bytes.indexOf(10); end >= 0 && !this.#isOver; end = bytes.indexOf(10, at)) {
      this.#take(bytes.subarray(at, end));
      this.#endLine();
      at = end + 1;
    }
    this.#take(bytes.subarray(at));
    if (this.#nLineBytes > MAX_LINE_BYTES || this.#nWrittenBytes > MAX_WRITTEN_BYTES) this.end();
  }

  #take(bytes: Buffer): void {
    this.#line.push(bytes);
    this.#nLineBytes += bytes.length;
  }

  #endLine(): void {
    const isTooLong = this.#nLineBytes > MAX_LINE_BYTES;
    const text = Buffer.concat(this.#line).toString();
    this.#line = [];
    this.#nLineBytes = 0;
    const message = isTooLong ? undefined : parsed(text);
    if (message === undefined) this.end();
    else this.#options.onMessage(message);
  }
}

/** Undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Puts a process behind everything that serves and computes. One that is gone already needs no place. */
function putLast(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // Its end is reported by its exit.
  }
}
