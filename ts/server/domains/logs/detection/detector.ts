/** Reads what comes into the copy that is read, once, in about the order of reception, and applies the rules to it. */
import { type FileHandle, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import { type HourFile, listHourFiles } from '../collection/copy-files.ts';
import { endOfLines, FRAME_BYTES, framesOf, MOST_FRAME_BYTES, readFrame, withFile } from '../collection/packed-frames.ts';
import { isIndexed } from '../index/indexed-classes.ts';
import { type ReadLines, readLines } from '../index/log-line.ts';
import type { LineCount } from './baselines.ts';
import { type Alert, type InstalledRule, RuleSet, type SavedWindows } from './rule-set.ts';

/** A copy of the collection, 0 or 1. */
export interface DetectedCopy {
  path: string;
  number: number;
}

/** How far an hour was read. */
interface ReadHour {
  /** The copy whose open file was read; undefined: the packed file, which is the same in both. */
  copy: number | undefined;
  offset: number;
  /** Its last line was received then: files are read side by side. */
  atMs: number;
  isDone: boolean;
  /** Lines by their senders. */
  lines: Record<string, number>;
}

interface SavedState {
  /** Hours before are not looked at: `YYYY-MM-DDTHH`. */
  since: string;
  hours: Record<string, ReadHour>;
  windows: SavedWindows;
}

export interface Detected {
  alerts: Alert[];
  /** They are of hours of which something was read. */
  counts: LineCount[];
  nLines: number;
  /** So far. */
  nForgotten: number;
  /** Nothing waits. */
  isDone: boolean;
  /** Files that cannot be read, and why. */
  faults: string[];
}

const MOST_ALERTS = 1_000;
/** An hour of a class has so many; more are counted together. */
const MOST_SENDERS = 2_000;
const OTHERS = 'others';
/** So many alerts of one rule and entity stand alone in a round; more are joined with the last. */
const MOST_ALIKE = 50;

export class Detector {
  readonly #file: string;
  #rules = new RuleSet([]);
  #state: SavedState | undefined;
  #windows: SavedWindows = {};
  #nForgottenBefore = 0;

  /** @param file what it knows over restarts. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Windows of rules whose text is the same go on. */
  async useRules(rules: readonly InstalledRule[]): Promise<void> {
    if (this.#state === undefined) await this.#load();
    else this.#windows = this.#rules.saved;
    this.#nForgottenBefore += this.#rules.nForgotten;
    this.#rules = new RuleSet(rules, this.#windows);
  }

  /** Reads for about so long. */
  async advance(copy: DetectedCopy, nowMs: number, budgetMs: number): Promise<Detected> {
    const state = this.#state ?? (await this.#load());
    if (state.since === '') state.since = new Date(nowMs).toISOString().slice(0, 13);
    const deadline = performance.now() + budgetMs;
    const files = (await listHourFiles(copy.path)).filter(
      ({ className, hour, id }) => isIndexed(className) && (hour >= state.since || state.hours[id] !== undefined),
    );
    const ids = new Set(files.map(({ id }) => id));
    for (const id of Object.keys(state.hours)) if (!ids.has(id)) delete state.hours[id];
    const round = new Round(this.#rules);
    const faults: string[] = [];
    const waiting = new Set(await this.#unread(files, copy, state));
    while (waiting.size > 0 && performance.now() < deadline && round.alerts.length < MOST_ALERTS) {
      const [next] = [...waiting].sort((a, b) => (state.hours[a.id]?.atMs ?? 0) - (state.hours[b.id]?.atMs ?? 0));
      if (next === undefined) break;
      const isRead = await this.#readOn(next, state, round).catch((error: NodeJS.ErrnoException) => {
        // What was packed or removed meanwhile is another file in the next round; what is damaged waits for its repair.
        if (error.code !== 'ENOENT') faults.push(`${next.path}: ${error.message}`);
        return false;
      });
      if (!isRead) waiting.delete(next);
    }
    return {
      alerts: round.alerts,
      counts: [...round.changed].flatMap(({ id, className, hour }) => {
        const ofHour = Object.entries(state.hours[id]?.lines ?? {});
        return ofHour.map(([sender, lines]) => ({ sender, className, hour, lines }));
      }),
      nLines: round.nLines,
      nForgotten: this.#nForgottenBefore + this.#rules.nForgotten,
      isDone: waiting.size === 0,
      faults,
    };
  }

  /** Writes how far it is, when what it found is in the database. */
  async keep(): Promise<void> {
    if (this.#state === undefined) return;
    const state: SavedState = { ...this.#state, windows: this.#rules.saved };
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o750 });
    await writeFileAtomically(this.#file, JSON.stringify(state), 0o600);
  }

  async #load(): Promise<SavedState> {
    const text = await readFile(this.#file, 'utf8').catch(() => undefined);
    const state: SavedState = { since: '', hours: {}, windows: {}, ...parsed(text) };
    this.#state = state;
    this.#windows = state.windows;
    return state;
  }

  /** Those of which something was not read yet. */
  async #unread(files: readonly HourFile[], copy: DetectedCopy, state: SavedState): Promise<HourFile[]> {
    const open = new Set(files.filter(({ isPacked }) => !isPacked).map(({ id }) => id));
    const unread: HourFile[] = [];
    for (const file of files) {
      if (file.isPacked && open.has(file.id)) continue;
      const place = file.isPacked ? undefined : copy.number;
      let read = state.hours[file.id];
      if (read === undefined || read.copy !== place || file.sizeBytes < read.offset) {
        const isDone = file.isPacked && read?.copy !== undefined && (await linesOfPacked(file)) === read.offset;
        // The packed file has lines that the copy lacked, or another copy is read: what was found before is known by its uuids.
        read = {
          copy: place,
          offset: isDone ? file.sizeBytes : 0,
          atMs: Date.parse(`${file.hour}:00:00Z`),
          isDone,
          lines: isDone ? (read?.lines ?? {}) : {},
        };
        state.hours[file.id] = read;
      }
      if (!read.isDone && file.sizeBytes > read.offset) unread.push(file);
    }
    return unread;
  }

  /** One frame; false: there is no whole line more. */
  async #readOn(file: HourFile, { hours }: SavedState, round: Round): Promise<boolean> {
    const read = hours[file.id];
    if (read === undefined) return false;
    const { bytes, next } = await withFile(file.path, async (opened) => {
      if (!file.isPacked) {
        const bytes = await linesFrom(opened, read.offset);
        return { bytes, next: read.offset + bytes.length };
      }
      for await (const place of framesOf(opened, read.offset))
        return { bytes: await readFrame(opened, place), next: place.offset + place.sizeBytes };
      return { bytes: Buffer.alloc(0), next: read.offset };
    });
    read.offset = next;
    read.isDone = file.isPacked && next >= file.sizeBytes;
    if (bytes.length === 0) return false;
    read.atMs = round.take(bytes, read.lines) ?? read.atMs;
    round.changed.add(file);
    return next < file.sizeBytes;
  }
}

/** A round holds what was found in it. */
class Round {
  readonly #rules: RuleSet;
  readonly alerts: Alert[] = [];
  readonly #alike = new Map<string, { n: number; last: Alert }>();
  readonly changed = new Set<HourFile>();
  nLines = 0;

  constructor(rules: RuleSet) {
    this.#rules = rules;
  }

  /** Returns when the last line was received, in Unix milliseconds. */
  take(bytes: Buffer, senders: Record<string, number>): number | undefined {
    let last: number | undefined;
    const read: ReadLines = { lines: [], nBad: 0, nRedacted: 0 };
    for (const text of bytes.toString('utf8').split('\n')) {
      if (text === '') continue;
      readLines(text, read);
      for (const timed of read.lines) {
        const found: Alert[] = [];
        this.#rules.evaluate(timed, found);
        for (const alert of found) this.#add(alert);
        count(senders, timed.line.fromhost_ip);
        last = Date.parse(timed.line.rcvd);
      }
      this.nLines += read.lines.length;
      read.lines = [];
    }
    return last;
  }

  #add(alert: Alert): void {
    const key = `${alert.rule}\n${alert.entity}`;
    const before = this.#alike.get(key);
    if (before !== undefined && before.n >= MOST_ALIKE) {
      before.last.count += 1;
      before.last.atMs = Math.max(before.last.atMs, alert.atMs);
      return;
    }
    this.#alike.set(key, { n: (before?.n ?? 0) + 1, last: alert });
    this.alerts.push(alert);
  }
}

function count(senders: Record<string, number>, sender: string): void {
  const key = Object.hasOwn(senders, sender) || Object.keys(senders).length < MOST_SENDERS ? sender : OTHERS;
  senders[key] = (senders[key] ?? 0) + 1;
}

function parsed(text: string | undefined): Partial<SavedState> {
  try {
    return text === undefined ? {} : (JSON.parse(text) as Partial<SavedState>);
  } catch {
    return {};
  }
}

/** The bytes of lines in a packed file, as they were before. */
async function linesOfPacked({ path }: HourFile): Promise<number> {
  return await withFile(path, async (file) => {
    let sizeBytes = 0;
    for await (const place of framesOf(file)) sizeBytes += (await readFrame(file, place)).length;
    return sizeBytes;
  });
}

/** Whole lines from an offset on, a frame of them; none: no line has ended yet. */
async function linesFrom(file: FileHandle, offset: number): Promise<Buffer> {
  for (let most = FRAME_BYTES * 2; most <= MOST_FRAME_BYTES; most *= 4) {
    const buffer = Buffer.alloc(most);
    const { bytesRead } = await file.read(buffer, 0, most, offset);
    const end = endOfLines(buffer.subarray(0, bytesRead));
    if (end !== undefined) return buffer.subarray(0, end);
    if (bytesRead < most) break;
  }
  return Buffer.alloc(0);
}
