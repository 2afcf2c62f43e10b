/** Where the lines of the server's log are found: named files, the journal of systemd, or the file that a running server writes to. */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open, readFile, readlink, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** The end of each source is read. */
const MOST_BYTES = 8 * 2 ** 20;
const UNITS = ['svc.service', 'svc@*.service'];

interface FoundLog {
  readonly name: string;
  readonly text: string;
}

interface LogSourceOptions {
  /** Files that the operator names. */
  readonly files: readonly string[];
  readonly lines: number;
  readonly dataDir: string | undefined;
}

/** `missing` says why a source has nothing. */
export async function findLogs({ files, lines, dataDir }: LogSourceOptions): Promise<{ found: FoundLog[]; missing: string[] }> {
  const found: FoundLog[] = [];
  const missing: string[] = [];
  const attempt = async (name: string, read: () => Promise<string>): Promise<void> => {
    const text = await read().catch((error: Error) => {
      missing.push(`${name}: ${error.message.split('\n')[0]}`);
      return '';
    });
    if (text !== '') found.push({ name, text: lastLines(text, lines) });
  };
  for (const [n, file] of files.entries()) await attempt(`${n}-${basename(file).slice(0, 60)}`, () => readEnd(file));
  await attempt('journal', () => readJournal(lines));
  if (dataDir !== undefined) await attempt('running-server', async () => await readRunning(dataDir));
  return { found, missing };
}

async function readJournal(lines: number): Promise<string> {
  const units = UNITS.flatMap((unit) => ['--unit', unit]);
  const args = [...units, '--no-pager', '--quiet', '--output', 'short-iso-precise', '--lines', String(lines)];
  return (await run('journalctl', args, { maxBuffer: 4 * MOST_BYTES, timeout: 20_000 })).stdout;
}

/** Linux tells where the standard error of a process goes; a terminal or a pipe cannot be read again. */
async function readRunning(dataDir: string): Promise<string> {
  const text = await readFile(join(dataDir, 'lock.json'), 'utf8').catch(() => undefined);
  const pid = text === undefined ? undefined : (JSON.parse(text) as { pid?: unknown }).pid;
  if (!Number.isSafeInteger(pid)) return '';
  const link = `/proc/${Number(pid)}/fd/2`;
  const target = await readlink(link).catch(() => undefined);
  if (target === undefined || !(await stat(link)).isFile()) return '';
  return await readEnd(link);
}

async function readEnd(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw new Error(`${path} is no file`);
    const length = Math.min(facts.size, MOST_BYTES);
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await file.read(bytes, 0, length, facts.size - length);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function lastLines(text: string, lines: number): string {
  const all = text.trimEnd().split('\n');
  return `${all.slice(-lines).join('\n')}\n`;
}
