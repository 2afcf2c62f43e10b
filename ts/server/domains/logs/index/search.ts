/** Searches the copy that is read: frames that the index does not exclude, and whatever is not indexed yet. */
import type { FileHandle } from 'node:fs/promises';
import { endOfHour, type HourFile, listHourFiles } from '../collection/copy-files.ts';
import { endOfLines, FRAME_BYTES, framesOf, readFrame, withFile } from '../collection/packed-frames.ts';
import { HourIndex, sourceOf } from './hour-index.ts';
import { isIndexed } from './indexed-classes.ts';
import { indexPath } from './indexed-copy.ts';
import { boundsOfHour, type ReadLines, readLines, type TimedLine } from './log-line.ts';
import type { Matcher } from './query.ts';
import { type SenderRule, senderTest } from './sender-rule.ts';
import { mayHold } from './token-filter.ts';

/** One of the two copies. */
export interface Copy {
  path: string;
  /** 0 or 1. */
  number: number;
}

/** A line's place in the order of an answer. */
export interface Cursor {
  atMs: number;
  uuid: string;
}

export interface SearchRequest {
  fromMs: number;
  toMs: number;
  /** Undefined: all. */
  classes: readonly string[] | undefined;
  limit: number;
  order: 'desc' | 'asc';
  /** Only lines behind it. */
  cursor: Cursor | undefined;
  /** Buckets of the range, each as long as the others; 0: none are counted. */
  nBuckets: number;
  senders: SenderRule | undefined;
  timeLimitMs: number;
}

export interface Found {
  lines: TimedLine[];
  next: Cursor | undefined;
  /** Lines by bucket, all that match. */
  counts: number[] | undefined;
  /** The time was over, or something could not be read: there may be more. */
  isPartial: boolean;
  nFrames: number;
  nBytes: number;
}

interface Unit {
  hour: HourFile;
  /** Undefined: what the index does not cover yet, from `offset` on. */
  frame: { offset: number; sizeBytes: number } | undefined;
  offset: number;
  minMs: number;
  maxMs: number;
  /** The hour lies in two files for the moment, which may have the same line. */
  isTwofold: boolean;
}

const HOUR_MS = 3_600_000;
const MOST_TRIES = 3;
const MOST_CACHED_BYTES = 256 * 1024 * 1024;

export class LogSearcher {
  readonly #folder: string;
  /** Those that were used last are at the end. */
  readonly #indexes = new Map<string, HourIndex>();
  /** The sources of packed files, which do not change. */
  readonly #sources = new Map<string, { key: string; source: string }>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A file that was packed or removed while it was read is looked for again. */
  async search(copy: Copy, request: SearchRequest, matcher: Matcher, isCancelled: () => boolean): Promise<Found> {
    const deadline = performance.now() + request.timeLimitMs;
    const isOver = (): boolean => performance.now() > deadline || isCancelled();
    for (let nTries = 1; ; nTries++) {
      const scan = new Scan(request, matcher);
      try {
        return await this.#run(copy, request, scan, isOver);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || nTries === MOST_TRIES) throw error;
      }
    }
  }

  async #run(copy: Copy, request: SearchRequest, scan: Scan, isOver: () => boolean): Promise<Found> {
    const units = await this.#units(copy, request, scan.matcher);
    units.sort((a, b) => (request.order === 'desc' ? b.maxMs - a.maxMs : a.minMs - b.minMs));
    for (const [i, unit] of units.entries()) {
      if (scan.isBeyond(unit)) break;
      if (i > 0 && isOver()) return scan.found(unit);
      await readUnit(unit, scan, isOver);
      if (scan.isCutShort) return scan.found(unit);
    }
    return scan.found(undefined);
  }

  async #units(copy: Copy, { fromMs, toMs, classes }: SearchRequest, matcher: Matcher): Promise<Unit[]> {
    const files = await listHourFiles(copy.path);
    const openIds = new Set(files.filter(({ isPacked }) => !isPacked).map(({ id }) => id));
    const twofold = new Set(files.filter(({ id, isPacked }) => isPacked && openIds.has(id)).map(({ id }) => id));
    const units: Unit[] = [];
    for (const hour of files) {
      if (!isIndexed(hour.className) || (classes !== undefined && !classes.includes(hour.className))) continue;
      const bounds = boundsOfHour(endOfHour(hour.hour) - HOUR_MS);
      if (bounds.maxMs < fromMs || bounds.minMs >= toMs) continue;
      const isTwofold = twofold.has(hour.id);
      const index = await this.#indexOf(hour, copy.number);
      for (const frame of index?.frames ?? []) {
        if (frame.nLines === 0 || frame.maxMs < fromMs || frame.minMs >= toMs || (frame.severities & matcher.severities) === 0)
          continue;
        if (!matcher.tokens.every((token) => mayHold(frame.filter, token))) continue;
        units.push({ hour, frame, offset: frame.offset, minMs: frame.minMs, maxMs: frame.maxMs, isTwofold });
      }
      const covered = index?.covered ?? 0;
      if (covered < hour.sizeBytes) units.push({ hour, frame: undefined, offset: covered, ...bounds, isTwofold });
    }
    this.#evict();
    return units;
  }

  /** Undefined: there is none of this file. */
  async #indexOf(hour: HourFile, number: number): Promise<HourIndex | undefined> {
    const path = indexPath(this.#folder, hour, number);
    const index = this.#indexes.get(path) ?? new HourIndex(path);
    await index.refresh();
    this.#indexes.delete(path);
    if (index.source === undefined) return undefined;
    this.#indexes.set(path, index);
    const { source, sizeBytes } = await this.#sourceOf(hour);
    return source === index.source && index.covered <= sizeBytes ? index : undefined;
  }

  #evict(): void {
    let sizeBytes = 0;
    for (const index of this.#indexes.values()) sizeBytes += index.sizeBytes;
    for (const [path, index] of this.#indexes) {
      if (sizeBytes <= MOST_CACHED_BYTES || this.#indexes.size === 1) return;
      this.#indexes.delete(path);
      sizeBytes -= index.sizeBytes;
    }
  }

  /** A file that grows may have more than when it was listed. */
  async #sourceOf({ path, isPacked, sizeBytes, writtenMs }: HourFile): Promise<{ source: string; sizeBytes: number }> {
    const key = `${sizeBytes} ${writtenMs}`;
    const known = this.#sources.get(path);
    if (isPacked && known?.key === key) return { source: known.source, sizeBytes };
    return await withFile(path, async (file) => {
      const source = await sourceOf(file, isPacked);
      if (isPacked) this.#sources.set(path, { key, source });
      return { source, sizeBytes: (await file.stat()).size };
    });
  }
}

/** A frame that is damaged makes the answer partial. Throws where the file is gone. */
async function readUnit(unit: Unit, scan: Scan, isOver: () => boolean): Promise<void> {
  const { hour, frame } = unit;
  try {
    await withFile(hour.path, async (file) => {
      if (frame === undefined) await readRest(file, unit, scan, isOver);
      else scan.take(hour.isPacked ? await readFrame(file, frame) : await readBytes(file, frame.offset, frame.sizeBytes), unit);
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
    scan.isDamaged = true;
  }
}

async function readRest(file: FileHandle, unit: Unit, scan: Scan, isOver: () => boolean): Promise<void> {
  if (unit.hour.isPacked) {
    for await (const place of framesOf(file, unit.offset)) {
      scan.take(await readFrame(file, place), unit);
      if (isOver()) return scan.cutShort();
    }
    return;
  }
  let bytesAtOnce = FRAME_BYTES * 2;
  for (let at = unit.offset; ; ) {
    const bytes = await readBytes(file, at, bytesAtOnce);
    const end = endOfLines(bytes);
    if (end === undefined) {
      // A line that is not ended yet, or one that is longer than what was read.
      if (bytes.length < bytesAtOnce) return;
      bytesAtOnce *= 2;
      continue;
    }
    scan.take(bytes.subarray(0, end), unit);
    at += end;
    if (isOver()) return scan.cutShort();
  }
}

async function readBytes(file: FileHandle, offset: number, sizeBytes: number): Promise<Buffer> {
  const bytes = Buffer.alloc(sizeBytes);
  const { bytesRead } = await file.read(bytes, 0, sizeBytes, offset);
  return bytes.subarray(0, bytesRead);
}

/** A scan holds what was found so far. */
class Scan {
  readonly matcher: Matcher;
  readonly #request: SearchRequest;
  readonly #isOfSender: (address: string) => boolean;
  readonly #counts: number[] | undefined;
  /** Uuids of hours that lie in two files. */
  readonly #seen = new Set<string>();
  #kept: TimedLine[] = [];
  /** Lines behind it do not count any more. */
  #last: TimedLine | undefined;
  #nFrames = 0;
  #nBytes = 0;
  /** Something could not be read. */
  isDamaged = false;
  #isCutShort = false;

  constructor(request: SearchRequest, matcher: Matcher) {
    this.#request = request;
    this.matcher = matcher;
    this.#isOfSender = senderTest(request.senders);
    this.#counts = request.nBuckets === 0 ? undefined : new Array<number>(request.nBuckets).fill(0);
  }

  /** The time was over inside of a unit. */
  get isCutShort(): boolean {
    return this.#isCutShort;
  }

  cutShort(): void {
    this.#isCutShort = true;
  }

  /** Whether no line of the unit, and of those behind it, can be among those that are answered. */
  isBeyond({ minMs, maxMs }: Unit): boolean {
    if (this.#counts !== undefined || this.#last === undefined) return false;
    return this.#request.order === 'desc' ? maxMs < this.#last.atMs : minMs > this.#last.atMs;
  }

  take(bytes: Buffer, { isTwofold }: Unit): void {
    this.#nFrames += 1;
    this.#nBytes += bytes.length;
    const text = bytes.toString('utf8');
    const read: ReadLines = { lines: [], nBad: 0, nRedacted: 0 };
    eachCandidate(text, this.matcher.literal, (line) => {
      readLines(line, read);
      for (const found of read.lines) this.#consider(found, isTwofold);
      read.lines = [];
    });
  }

  #consider(found: TimedLine, isTwofold: boolean): void {
    const { fromMs, toMs, cursor, nBuckets, limit } = this.#request;
    const { atMs, line } = found;
    if (atMs < fromMs || atMs >= toMs || !this.#isOfSender(line.fromhost_ip) || !this.matcher.matches(line)) return;
    if (isTwofold) {
      if (this.#seen.has(line.uuid)) return;
      this.#seen.add(line.uuid);
    }
    if (this.#counts !== undefined) {
      const bucket = Math.min(nBuckets - 1, Math.floor(((atMs - fromMs) * nBuckets) / (toMs - fromMs)));
      this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    }
    if (cursor !== undefined && this.#order(found, { atMs: cursor.atMs, line: { uuid: cursor.uuid } }) <= 0) return;
    if (this.#last !== undefined && this.#order(found, this.#last) > 0) return;
    this.#kept.push(found);
    // One more than is answered tells whether there are more.
    if (this.#kept.length >= 2 * (limit + 1)) this.#cut();
  }

  #cut(): void {
    this.#kept = this.#kept.sort((a, b) => this.#order(a, b)).slice(0, this.#request.limit + 1);
    if (this.#kept.length > this.#request.limit) this.#last = this.#kept.at(-1);
  }

  /** Returns a number below 0 where `a` is answered before `b`. */
  #order(a: { atMs: number; line: { uuid: string } }, b: { atMs: number; line: { uuid: string } }): number {
    const difference = a.atMs === b.atMs ? (a.line.uuid < b.line.uuid ? -1 : a.line.uuid > b.line.uuid ? 1 : 0) : a.atMs - b.atMs;
    return this.#request.order === 'desc' ? -difference : difference;
  }

  /** `left`: the first unit that was not read, or not to its end, for want of time. Lines that it might come before are left for the next page. */
  found(left: Unit | undefined): Found {
    this.#cut();
    const { limit, order } = this.#request;
    const isSure = ({ atMs }: TimedLine): boolean =>
      left === undefined || (order === 'desc' ? atMs > left.maxMs : atMs < left.minMs);
    const sure = this.#kept.filter(isSure);
    const shown = (sure.length > 0 ? sure : this.#kept).slice(0, limit);
    const hasMore = sure.length > 0 && (this.#kept.length > shown.length || left !== undefined);
    const last = shown.at(-1);
    return {
      lines: shown,
      next: hasMore && last !== undefined ? { atMs: last.atMs, uuid: last.line.uuid } : undefined,
      counts: this.#counts,
      isPartial: left !== undefined || this.isDamaged,
      nFrames: this.#nFrames,
      nBytes: this.#nBytes,
    };
  }
}

/** Lines that hold the literal, which is in lower case, or all of them. */
function eachCandidate(text: string, literal: string | undefined, take: (line: string) => void): void {
  const lower = literal === undefined ? undefined : text.toLowerCase();
  if (literal === undefined || lower?.length !== text.length) {
    for (let begin = 0; begin < text.length; ) {
      const end = endOfLine(text, begin);
      take(text.slice(begin, end));
      begin = end + 1;
    }
    return;
  }
  for (let at = lower.indexOf(literal); at >= 0; ) {
    const end = endOfLine(text, at);
    take(text.slice(text.lastIndexOf('\n', at) + 1, end));
    at = lower.indexOf(literal, end);
  }
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
