/** One process of ts/workers/decode-media.ts, confined (native/confinement.ts) and limited in time and memory. It decodes for one tenant. */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { join, relative, sep } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { receiveMessageOnPort } from 'node:worker_threads';
import { confinedCommand } from '../../../native/confinement.ts';
import { INSTALL_ROOT } from '../../../platform/files/install-root.ts';
import { type DecoderReply, type DecoderTask, encodeHead, headBytes, maxHeadBytes } from './decoder-message.ts';
import type { EncodedMedia } from './encoded-media.ts';

const entry = fileURLToPath(new URL('../../../../workers/decode-media.ts', import.meta.url));
/** The paths that the child reads of this program: the folder that its script imports from, the packages, and the file that tells Node how to. */
const sources = [relative(INSTALL_ROOT, entry).split(sep)[0] ?? '', 'node_modules', 'package.json'];

/** A process that decoded this much makes room for a fresh one: what a decoder leaks goes with it. */
const maxTasks = 200;
/** The largest image needs about 600 MiB, by its format. */
const limits = { memoryMiB: 1536, cpuSeconds: 600 };
/** The time for one image or sound, from the moment that the process turns to it. */
const timeoutMs = 30_000;

export interface Decoded {
  bytes: Uint8Array;
  /** The size of an image. */
  width: number;
  height: number;
}

/** The sentence is for the client: what it sent cannot be read. */
export class UndecodableError extends Error {
  override readonly name = 'UndecodableError';
}

export class DecoderProcess {
  readonly #child: ChildProcess;
  readonly #input: Writable;
  readonly #output: Readable;
  #nTasks = 0;
  #isOver = false;

  constructor(script = entry) {
    // With the handler, V8 reserves more address space for each WebAssembly memory than the process may have.
    const program = [process.execPath, '--no-warnings', '--disable-wasm-trap-handler', script];
    const readable = [...sources.map((path) => join(INSTALL_ROOT, path)), script];
    const { file, args } = confinedCommand(program, { ...limits, readable, withoutDevices: true });
    const kept = ['SVC_NATIVE_DIR', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'].filter((name) => process.env[name] !== undefined);
    const env = Object.fromEntries(kept.map((name) => [name, process.env[name]]));
    this.#child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#input = this.#child.stdin as Writable;
    this.#output = this.#child.stdout as Readable;
    this.#output.pause();
    // What goes wrong shows where the answer is read.
    this.#input.on('error', () => {});
    const over = () => {
      this.#isOver = true;
    };
    this.#child.on('error', over).on('exit', over);
    if (this.#child.pid !== undefined) lower(this.#child.pid);
  }

  /** False: it takes no more tasks, and end() is to be called. */
  get isUsable(): boolean {
    return !this.#isOver && this.#nTasks < maxTasks;
  }

  /** Throws UndecodableError. One task at a time. */
  async decode(task: DecoderTask, bytes: EncodedMedia['bytes']): Promise<Decoded> {
    this.#nTasks++;
    const timer = setTimeout(() => this.end(), timeoutMs);
    try {
      this.#input.write(encodeHead(task));
      await this.#send(bytes);
      return await this.#receive();
    } finally {
      clearTimeout(timer);
    }
  }

  end(): void {
    this.#isOver = true;
    this.#child.kill('SIGKILL');
  }

  async #send(bytes: EncodedMedia['bytes']): Promise<void> {
    if (bytes instanceof Uint8Array) {
      this.#input.write(bytes);
      return;
    }
    for (let next = receiveMessageOnPort(bytes.port); next; next = receiveMessageOnPort(bytes.port)) {
      if (this.#isOver) break;
      await new Promise<void>((resolve) => this.#input.write(next?.message as Uint8Array, () => resolve()));
    }
    bytes.port.close();
  }

  async #receive(): Promise<Decoded> {
    const reply = JSON.parse((await this.#read(await this.#readLength())).toString()) as DecoderReply;
    if (!reply.ok) throw new UndecodableError(reply.reason);
    const bytes = await this.#read(reply.sizeBytes);
    return { bytes, width: reply.width ?? 0, height: reply.height ?? 0 };
  }

  async #readLength(): Promise<number> {
    const length = (await this.#read(headBytes)).readUInt32LE();
    if (length <= maxHeadBytes) return length;
    this.end();
    throw new UndecodableError('its decoder gave no answer');
  }

  /** Fills a buffer as the bytes come, so that no copy of all of them holds up the event loop. */
  async #read(sizeBytes: number): Promise<Buffer> {
    const all = Buffer.allocUnsafeSlow(sizeBytes);
    for (let at = 0; at < sizeBytes; ) {
      const piece = (this.#output.read(Math.min(sizeBytes - at, this.#output.readableLength || 1)) ?? undefined) as
        | Buffer
        | undefined;
      if (piece === undefined) await this.#readable();
      else at += piece.copy(all, at);
    }
    return all;
  }

  /** Throws when nothing will come any more. */
  #readable(): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        this.#output.off('readable', settle).off('end', settle).off('close', settle);
        if (this.#output.readableLength > 0) resolve();
        else if (this.#output.readableEnded || this.#output.destroyed || this.#isOver)
          reject(new UndecodableError('its decoder ended before it was done'));
        else void this.#readable().then(resolve, reject);
      };
      this.#output.on('readable', settle).on('end', settle).on('close', settle);
    });
  }
}

/** Puts a process behind the threads that serve and compute. A process that is gone already needs none. */
function lower(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Its exit is told elsewhere.
  }
}
