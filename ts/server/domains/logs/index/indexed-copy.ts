/** The index of the copy that is read: made beside the files as they grow, and again where it is gone or damaged. It is derived, and nothing needs it. */
import { appendFile, mkdir, open, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type HourFile, listHourFiles } from '../collection/copy-files.ts';
import { endOfLines, FRAME_BYTES, framesOf, MOST_FRAME_BYTES, readFrame } from '../collection/packed-frames.ts';
import { encodeFrame, HourIndex, type IndexedFrame, newHead, sourceOf } from './hour-index.ts';
import { isIndexed } from './indexed-classes.ts';
import { type ReadLines, readLines, searchedText } from './log-line.ts';
import type { Copy } from './search.ts';
import { TokenSet } from './token-filter.ts';
import { FILTERED_FIELDS, fieldHash, scanTokens } from './tokens.ts';

export interface IndexState {
  /** The lines that the index has. */
  nLines: number;
  nQuarantined: number;
  nRedacted: number;
  /** The size of the index on the disk. */
  sizeBytes: number;
  /** Nothing that could be indexed waited when it was looked at last. */
  isDone: boolean;
  /** Files that cannot be read to their ends, and why. */
  faults: string[];
}

/** Returns where the index of a file of a copy lies. A packed file is the same in both copies, and so is its index. */
export function indexPath(folder: string, { id, isPacked }: Pick<HourFile, 'id' | 'isPacked'>, copy: number): string {
  return join(folder, `${id}.${isPacked ? 'packed' : `open${copy}`}.idx`);
}

const NAME = /^[a-z][a-z0-9_]{0,31}\/\d{4}-\d\d-\d\dT\d\d\.(?:packed|open[01])\.idx$/;
const QUARANTINE = 'quarantine.jsonl';
const MOST_QUARANTINED = 10_000;

export class IndexedCopy {
  readonly #folder: string;
  readonly #indexes = new Map<string, HourIndex>();
  readonly #tokens = new TokenSet();
  #nNoted = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Indexes what came, the newest hours first, for about so long. */
  async advance({ path: copy, number }: Copy, budgetMs: number): Promise<IndexState> {
    const deadline = performance.now() + budgetMs;
    const files = (await listHourFiles(copy)).filter((file) => isIndexed(file.className)).reverse();
    const paths = new Map(files.map((file) => [indexPath(this.#folder, file, number), file]));
    // The other copy may be read again soon.
    const kept = files.filter(({ isPacked }) => !isPacked).map((file) => indexPath(this.#folder, file, 1 - number));
    await this.#removeOthers(new Set([...paths.keys(), ...kept]));
    let isDone = true;
    const faults: string[] = [];
    for (const [path, file] of paths) {
      if (performance.now() > deadline) {
        isDone = false;
        break;
      }
      const index = this.#indexes.get(path) ?? new HourIndex(path);
      this.#indexes.set(path, index);
      // A file that was packed or removed meanwhile is another one in the next round.
      const isWhole = await this.#extend(index, file, deadline).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false;
        faults.push(`${file.path}: ${error.message}`);
        return true;
      });
      isDone &&= isWhole;
    }
    return { ...this.#sums(), isDone, faults };
  }

  async rebuild(): Promise<void> {
    this.#indexes.clear();
    this.#nNoted = 0;
    await rm(this.#folder, { recursive: true, force: true });
  }

  #sums(): Omit<IndexState, 'isDone' | 'faults'> {
    const sums = { nLines: 0, nQuarantined: 0, nRedacted: 0, sizeBytes: 0 };
    for (const { frames, sizeBytes } of this.#indexes.values()) {
      sums.sizeBytes += sizeBytes;
      for (const { nLines, nBad, nRedacted } of frames) {
        sums.nLines += nLines;
        sums.nQuarantined += nBad;
        sums.nRedacted += nRedacted;
      }
    }
    return sums;
  }

  /** Those of files that are gone. */
  async #removeOthers(wanted: ReadonlySet<string>): Promise<void> {
    for (const path of [...this.#indexes.keys()]) if (!wanted.has(path)) this.#indexes.delete(path);
    const names = await readdir(this.#folder, { recursive: true }).catch(() => []);
    for (const name of names) {
      const path = join(this.#folder, name);
      if (NAME.test(name) && !wanted.has(path)) await rm(path, { force: true });
    }
  }

  /** False: the time was over before the end of the file. */
  async #extend(index: HourIndex, hour: HourFile, deadline: number): Promise<boolean> {
    const file = await open(hour.path, 'r');
    try {
      const source = await sourceOf(file, hour.isPacked);
      await index.refresh();
      const { size } = await file.stat();
      if (index.source !== source || index.covered > size) await this.#begin(index, source);
      else await truncateBehind(index);
      if (hour.isPacked) {
        for await (const place of framesOf(file, index.covered)) {
          await this.#add(index, hour, place, await readFrame(file, place));
          if (performance.now() > deadline) return false;
        }
        return true;
      }
      for (;;) {
        const offset = index.covered;
        if (size - offset < FRAME_BYTES) return true;
        const lines = await readOpenFrame(file, offset, size);
        if (lines === undefined) return true;
        await this.#add(index, hour, { offset, sizeBytes: lines.length }, lines);
        if (performance.now() > deadline) return false;
      }
    } finally {
      await file.close();
    }
  }

  async #begin(index: HourIndex, source: string): Promise<void> {
    await mkdir(dirname(index.path), { recursive: true, mode: 0o750 });
    await rm(index.path, { force: true });
    await writeFile(index.path, newHead(source), { mode: 0o640 });
    await index.refresh();
  }

  async #add(index: HourIndex, hour: HourFile, place: { offset: number; sizeBytes: number }, lines: Buffer): Promise<void> {
    const bad: number[] = [];
    const frame = frameOf(place, lines, this.#tokens, bad);
    await appendFile(index.path, encodeFrame(frame));
    await index.refresh();
    for (const at of bad)
      await this.#note(hour, hour.isPacked ? { frame: place.offset, offset: at } : { offset: place.offset + at });
  }

  /** Says where lines are that cannot be read. */
  async #note({ path }: HourFile, place: object): Promise<void> {
    if (this.#nNoted >= MOST_QUARANTINED) return;
    this.#nNoted += 1;
    await appendFile(join(this.#folder, QUARANTINE), `${JSON.stringify({ file: path, ...place })}\n`, { mode: 0o640 });
  }
}

/** A record that a crash has torn would hide what is appended behind it. */
async function truncateBehind({ path, goodBytes }: HourIndex): Promise<void> {
  await truncate(path, goodBytes);
}

/** Undefined: no line has ended yet. */
async function readOpenFrame(file: Awaited<ReturnType<typeof open>>, offset: number, size: number): Promise<Buffer | undefined> {
  for (let most = FRAME_BYTES * 2; ; most *= 4) {
    const bytes = Buffer.alloc(Math.min(most, size - offset));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
    const end = endOfLines(bytes.subarray(0, bytesRead));
    if (end !== undefined) return bytes.subarray(0, end);
    if (offset + most >= size || most > MOST_FRAME_BYTES) return undefined;
  }
}

/** `bad` gets the places of lines that cannot be read. */
function frameOf(place: { offset: number; sizeBytes: number }, bytes: Buffer, tokens: TokenSet, bad: number[]): IndexedFrame {
  const add = (token: number): void => tokens.add(token);
  const read: ReadLines = { lines: [], nBad: 0, nRedacted: 0 };
  const frame = {
    ...place,
    rawBytes: bytes.length,
    nLines: 0,
    minMs: Number.POSITIVE_INFINITY,
    maxMs: Number.NEGATIVE_INFINITY,
    severities: 0,
  };
  let begin = 0;
  for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, begin)) {
    const nBefore = read.nBad;
    readLines(bytes.toString('utf8', begin, end), read);
    if (read.nBad > nBefore) bad.push(begin);
    begin = end + 1;
    for (const { line, atMs } of read.lines) {
      frame.nLines += 1;
      frame.minMs = Math.min(frame.minMs, atMs);
      frame.maxMs = Math.max(frame.maxMs, atMs);
      frame.severities |= 1 << line.severity;
      scanTokens(searchedText(line), add);
      for (const field of FILTERED_FIELDS) add(fieldHash(field, line[field]));
    }
    read.lines = [];
  }
  return { ...frame, nBad: read.nBad, nRedacted: read.nRedacted, filter: tokens.takeFilter() };
}
