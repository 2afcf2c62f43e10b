/** Compares two copies while rsyslog writes them: as sums over their lines, since parallel inputs order them differently in each. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { listHourFiles } from './copy-files.ts';

/** A sum over lines that does not depend on their order. */
export interface LineSum {
  nLines: number;
  sum: number;
}

interface Followed extends LineSum {
  /** Bytes that are read, up to the end of a line. */
  offset: number;
}

interface CopyState {
  path: string;
  error: string | null;
  sizeBytes: number;
  lastWriteMs: number;
  /** Lines that the other copy had a while ago and this one has not. */
  missingLines: number;
}

const READ_BYTES = 1024 * 1024;
const SUM_BYTES = 6;

export class FollowedCopies {
  readonly #paths: readonly string[];
  /** Sums by copy and by file. */
  readonly #files: readonly Map<string, Followed>[];
  /** The sums of the last look: lines that one copy had then, the other has now. */
  #before: readonly Map<string, LineSum>[];
  #states: CopyState[];

  constructor(paths: readonly string[]) {
    this.#paths = paths;
    this.#files = paths.map(() => new Map());
    this.#before = paths.map(() => new Map());
    this.#states = paths.map((path) => ({ path, error: null, sizeBytes: 0, lastWriteMs: 0, missingLines: 0 }));
  }

  get states(): readonly CopyState[] {
    return this.#states;
  }

  get isInStep(): boolean {
    return this.#states.every(({ error, missingLines }) => error === null && missingLines === 0);
  }

  /** The copy that readers use: the first that can be read and lacks nothing. */
  get reading(): string | null {
    const usable = this.#states.filter(({ error }) => error === null);
    return (usable.find(({ missingLines }) => missingLines === 0) ?? usable[0])?.path ?? null;
  }

  /** The sum of a file as it grew; undefined: it was not followed. */
  sumOf(copy: number, id: string): LineSum | undefined {
    return this.#files[copy]?.get(id);
  }

  forget(id: string): void {
    for (const files of [...this.#files, ...this.#before]) files.delete(id);
  }

  /** Reads what has come. */
  async look(): Promise<void> {
    const read = await Promise.all(this.#paths.map((path, copy) => this.#readCopy(path, copy)));
    const missing = this.#paths.map((_, copy) => this.#missingOf(copy));
    this.#states = read.map((state, copy) => ({ ...state, missingLines: missing[copy] ?? 0 }));
    this.#before = this.#files.map((files) => new Map([...files].map(([id, { nLines, sum }]) => [id, { nLines, sum }])));
  }

  async #readCopy(path: string, copy: number): Promise<Omit<CopyState, 'missingLines'>> {
    const files = this.#files[copy] ?? new Map<string, Followed>();
    try {
      const found = await listHourFiles(path);
      const open = found.filter(({ isPacked }) => !isPacked);
      for (const id of [...files.keys()]) if (!open.some((file) => file.id === id)) files.delete(id);
      for (const file of open) files.set(file.id, await advance(file.path, file.sizeBytes, files.get(file.id)));
      const sizeBytes = found.reduce((sum, file) => sum + file.sizeBytes, 0);
      return { path, error: null, sizeBytes, lastWriteMs: Math.max(0, ...found.map(({ writtenMs }) => writtenMs)) };
    } catch (error) {
      files.clear();
      return { path, error: (error as Error).message, sizeBytes: 0, lastWriteMs: 0 };
    }
  }

  #missingOf(copy: number): number {
    const [own, other] = [this.#files[copy], this.#files[1 - copy]];
    let missing = 0;
    for (const [id, { nLines, sum }] of this.#before[1 - copy] ?? []) {
      // The other copy has packed it since.
      if (other?.has(id) !== true) continue;
      const here = own?.get(id);
      missing += Math.max(0, nLines - (here?.nLines ?? 0));
      // As many lines, and others.
      const isQuiet = other.get(id)?.nLines === nLines && here?.nLines === nLines;
      if (isQuiet && here.sum !== sum) missing += 1;
    }
    return missing;
  }
}

/** A file that is shorter than it was is read again. */
async function advance(path: string, sizeBytes: number, before: Followed = { offset: 0, nLines: 0, sum: 0 }): Promise<Followed> {
  const state = sizeBytes < before.offset ? { offset: 0, nLines: 0, sum: 0 } : { ...before };
  if (state.offset === sizeBytes) return state;
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(READ_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, READ_BYTES, state.offset);
      const end = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
      if (end === 0) return state;
      addLines(state, buffer.subarray(0, end));
      state.offset += end;
    }
  } finally {
    await file.close();
  }
}

/** `lines` ends with a newline. */
export function addLines(sum: LineSum, lines: Buffer): void {
  let begin = 0;
  for (let end = lines.indexOf(0x0a); end >= 0; end = lines.indexOf(0x0a, begin)) {
    const digest = createHash('md5').update(lines.subarray(begin, end)).digest();
    sum.sum = (sum.sum + digest.readUIntBE(0, SUM_BYTES)) % 2 ** (8 * SUM_BYTES);
    sum.nLines += 1;
    begin = end + 1;
  }
}
