/**
 * A program of the system, or one of ours, that the server confines (native/confinement.ts): files and texts of others meet C code there. It runs
 * behind what serves and computes, and reads the named paths alone.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { confinedCommand } from '../../../native/confinement.ts';

/** So much is kept of a program's words, unless more are asked for. */
const MOST_REASON_BYTES = 2_000;

interface ProgramLimits {
  memoryMiB: number;
  cpuSeconds: number;
  readable: readonly string[];
  mostReasonBytes?: number;
  /** Ends the program. */
  signal: AbortSignal;
}

interface ConfinedProgram {
  readonly input: Writable;
  readonly output: Readable;
  /** Its exit status, once all of its output was read; null: it was killed. */
  readonly exit: Promise<number | null>;
  /** The beginning of its standard error. */
  readonly reason: Promise<string>;
  kill(): void;
}

export function startConfined(
  program: readonly string[],
  { signal, mostReasonBytes = MOST_REASON_BYTES, ...limits }: ProgramLimits,
): ConfinedProgram {
  const { file, args } = confinedCommand(program, { ...limits, withoutDevices: true });
  const kept = ['SVC_NATIVE_DIR', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'].filter((name) => process.env[name] !== undefined);
  const env = Object.fromEntries(kept.map((name) => [name, process.env[name]]));
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const kill = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  const exit = new Promise<number | null>((resolve) => {
    child.once('close', (code: number | null) => {
      signal.removeEventListener('abort', kill);
      resolve(code);
    });
  });
  // What goes wrong shows as an end without output.
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  if (child.pid !== undefined) lower(child.pid);
  return { input: child.stdin, output: child.stdout, exit, reason: readReason(child.stderr, mostReasonBytes), kill };
}

/** All that a program writes, which is at most `mostBytes`; it is ended when it writes more. */
export async function outputOf(program: ConfinedProgram, mostBytes: number): Promise<{ code: number | null; bytes: Buffer }> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of program.output) {
    sizeBytes += (chunk as Buffer).length;
    if (sizeBytes > mostBytes) {
      program.kill();
      break;
    }
    chunks.push(chunk as Buffer);
  }
  const code = await program.exit;
  return { code: sizeBytes > mostBytes ? null : code, bytes: Buffer.concat(chunks) };
}

/** Puts a process behind the threads that serve and compute. A process that is gone already needs none. */
function lower(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Its end is told elsewhere.
  }
}

async function readReason(stream: Readable, mostBytes: number): Promise<string> {
  let text = '';
  for await (const chunk of stream) if (text.length < mostBytes) text += String(chunk);
  return text;
}
