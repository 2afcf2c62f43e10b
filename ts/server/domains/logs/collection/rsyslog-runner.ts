/** Runs rsyslog with a configuration: as a child of this process, or as a unit that the service manager starts again. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, readFileSync } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface RsyslogRunner {
  readonly pid: number | undefined;
  /** Ends the process that runs, if one does, and starts one with the configuration as it is. */
  restart(): Promise<void>;
  /** Is called where this process ends; a child ends with it. */
  stop(): Promise<void>;
  /** Ends rsyslog, whoever runs it. Without a configuration it is not started again. */
  end(): Promise<void>;
  /** The end of what the process wrote to its standard error. */
  words(): string;
}

const PROGRAMS = ['/usr/sbin/rsyslogd', '/usr/local/sbin/rsyslogd', '/sbin/rsyslogd'];
const END_WAIT_MS = 3_000;
const START_WAIT_MS = 5_000;
const MOST_WORDS = 8_000;
/** A process that ends by itself is started again. */
const AGAIN_MS = 500;

/** Undefined: rsyslog is not installed. */
export function findRsyslog(): string | undefined {
  return PROGRAMS.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Resolves to a version such as 8.2302.0. */
export async function rsyslogVersion(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, ['-v']);
  return /rsyslogd\s+([\d.]+)/.exec(stdout)?.[1] ?? 'unknown';
}

/** Undefined: the file can be read. Otherwise what rsyslog says of it. */
export async function checkedByRsyslog(program: string, file: string): Promise<string | undefined> {
  try {
    await promisify(execFile)(program, ['-N1', '-f', file], { timeout: 20_000 });
    return undefined;
  } catch (error) {
    return wordsOf((error as { stderr?: string }).stderr ?? String(error));
  }
}

/** Leaves out the lines that each start has. */
function wordsOf(text: string): string {
  const isOrdinary = /config validation run|End of config|pthread_attr_setschedpolicy|origin software|imuxsock/;
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !isOrdinary.test(line));
  return lines.join('\n').slice(-MOST_WORDS);
}

interface RunnerPlaces {
  /** Its configuration, pid file and work folder lie here. */
  folder: string;
  copies(): readonly string[];
}

export const CONFIG_FILE = 'rsyslog.conf';
const PID_FILE = 'rsyslog.pid';

export class ChildRunner implements RsyslogRunner {
  readonly #program: string;
  readonly #places: RunnerPlaces;
  readonly #onEnd: (code: number | null) => void;
  #child: ChildProcess | undefined;
  #words = '';
  #isWanted = false;

  /** `onEnd` hears of a process that ended by itself and is started again. */
  constructor(program: string, places: RunnerPlaces, onEnd: (code: number | null) => void) {
    this.#program = program;
    this.#places = places;
    this.#onEnd = onEnd;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async restart(): Promise<void> {
    await this.stop();
    this.#isWanted = true;
    await this.#start();
  }

  async stop(): Promise<void> {
    this.#isWanted = false;
    const child = this.#child;
    this.#child = undefined;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await Promise.race([ended, wait(END_WAIT_MS, undefined, { ref: false })]);
      child.kill('SIGKILL');
      await ended;
    }
    // A server that was killed leaves its child behind, which holds the ports.
    await endStray(this.#places.folder);
  }

  end(): Promise<void> {
    return this.stop();
  }

  words(): string {
    return wordsOf(this.#words);
  }

  async #start(): Promise<void> {
    const { folder, copies } = this.#places;
    for (const copy of copies()) await endTornLines(copy);
    await rm(join(folder, PID_FILE), { force: true });
    this.#words = '';
    const args = ['-n', '-f', join(folder, CONFIG_FILE), '-i', join(folder, PID_FILE)];
    const child = spawn(this.#program, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder });
    this.#child = child;
    child.on('error', (error) => {
      this.#words += `${error.message}\n`;
    });
    child.stderr.on('data', (data: Buffer) => {
      this.#words = (this.#words + data.toString()).slice(-MOST_WORDS);
    });
    child.once('exit', (code) => {
      if (this.#child !== child || !this.#isWanted) return;
      this.#onEnd(code);
      setTimeout(() => void this.#startAgain(child), AGAIN_MS).unref();
    });
  }

  async #startAgain(ended: ChildProcess): Promise<void> {
    if (this.#child === ended && this.#isWanted)
      await this.#start().catch((error: Error) => this.#onEnd(Number(error.message) || null));
  }
}

/** The service manager starts what ends; the unit runs with the rights that ports below 1024 need, and this process needs none. */
export class UnitRunner implements RsyslogRunner {
  readonly #places: RunnerPlaces;

  constructor(places: RunnerPlaces) {
    this.#places = places;
  }

  get pid(): number | undefined {
    return runningPid(this.#places.folder);
  }

  async restart(): Promise<void> {
    const before = this.pid;
    if (before !== undefined) signal(before, 'SIGTERM');
    const deadline = performance.now() + START_WAIT_MS;
    while (performance.now() < deadline) {
      const { pid } = this;
      if (pid !== undefined && pid !== before) return;
      await wait(50);
    }
    throw new Error('the unit svc-rsyslog.service did not start rsyslog: see `systemctl status svc-rsyslog`');
  }

  /** The unit is the operator's: what it runs goes on collecting while this process does not run. */
  async stop(): Promise<void> {}

  async end(): Promise<void> {
    await endStray(this.#places.folder);
  }

  words(): string {
    return '';
  }
}

/** Undefined: none runs with the configuration of this folder. */
function runningPid(folder: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(folder, PID_FILE), 'utf8').trim());
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return command.includes(join(folder, CONFIG_FILE)) ? pid : undefined;
  } catch {
    return undefined;
  }
}

async function endStray(folder: string): Promise<void> {
  const pid = runningPid(folder);
  if (pid === undefined) return;
  signal(pid, 'SIGTERM');
  const deadline = performance.now() + END_WAIT_MS;
  while (runningPid(folder) === pid && performance.now() < deadline) await wait(20);
  if (runningPid(folder) === pid) signal(pid, 'SIGKILL');
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Ends lines that a crash has torn, so that the next one is not glued to them. */
async function endTornLines(copy: string): Promise<void> {
  for (const name of await readdir(copy, { recursive: true }).catch(() => [])) {
    if (!name.endsWith('.jsonl')) continue;
    const file = await open(join(copy, name), 'r+');
    try {
      const { size } = await file.stat();
      const { buffer } = size === 0 ? { buffer: Buffer.from('\n') } : await file.read(Buffer.alloc(1), 0, 1, size - 1);
      if (buffer[0] !== 0x0a) await file.write('\n', size);
    } finally {
      await file.close();
    }
  }
}
