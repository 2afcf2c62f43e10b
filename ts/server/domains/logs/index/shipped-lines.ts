/**
 * Sends lines to the store as the copy that is read gets them. The files are the queue: how far each was sent is written down when the store has
 * it, so what a crash or a store that is down leaves open is sent again, and is one line there. An hour that was packed is counted in the store, and
 * sent once more where that has another number: it has lines of both copies then.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import { endOfHour, type HourFile, listHourFiles } from '../collection/copy-files.ts';
import { endOfLines, framesOf, MOST_FRAME_BYTES, readFrame, withFile } from '../collection/packed-frames.ts';
import type { ClickHouseLines } from './clickhouse.ts';
import { isIndexed } from './indexed-classes.ts';
import { boundsOfHour, type ReadLines, readLines, type TimedLine } from './log-line.ts';
import type { Copy, SearchRequest } from './search.ts';

/** How far an hour was sent. */
interface ShippedHour {
  /** The copy whose open file was read; undefined: the packed file, which is the same in both. */
  copy: number | undefined;
  offset: number;
  /** The store has the packed file. */
  isDone: boolean;
}

interface SavedState {
  place: string;
  /** Hours before are sent when somebody asks for it: `YYYY-MM-DDTHH`. */
  since: string;
  hours: Record<string, ShippedHour>;
  /** Hours that were removed before all of them was sent. */
  nMissed: number;
}

export interface ShipState {
  /** Lines that were sent since the start, some of them twice. */
  nLines: number;
  waitingBytes: number;
  /** Hours from before there was the store. */
  hoursLeft: number;
  hoursMissed: number;
  isDone: boolean;
}

const BATCH_BYTES = 1024 * 1024;
const BATCH_LINES = 10_000;
const HOUR_MS = 3_600_000;

export class ShippedLines {
  readonly #file: string;
  readonly #lines: ClickHouseLines;
  #state: SavedState | undefined;
  #isCreated = false;
  #nLines = 0;

  /** @param file what it knows over restarts; without it all is sent again, or at least counted. */
  constructor(file: string, lines: ClickHouseLines) {
    this.#file = file;
    this.#lines = lines;
  }

  /** Sends for about so long. Rejects where the store does not take them; nothing is lost then. */
  async advance(copy: Copy, nowMs: number, budgetMs: number): Promise<ShipState> {
    const state = this.#state ?? (await this.#load(nowMs));
    if (!this.#isCreated) await this.#lines.create();
    this.#isCreated = true;
    const deadline = performance.now() + budgetMs;
    const files = (await listHourFiles(copy.path)).filter(({ className }) => isIndexed(className));
    this.#forgetRemoved(state, files);
    const waiting = files.filter((hour) => isWanted(state, hour) && leftOf(state, hour, copy) > 0);
    let waitingBytes = waiting.reduce((sum, hour) => sum + leftOf(state, hour, copy), 0);
    for (const hour of waiting) {
      if (performance.now() > deadline) break;
      const before = leftOf(state, hour, copy);
      // What was packed or removed meanwhile is another file in the next round.
      await this.#ship(state, hour, copy, deadline).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
      waitingBytes -= before - leftOf(state, hour, copy);
    }
    const left = files.filter((hour) => !isWanted(state, hour) && state.hours[hour.id] === undefined);
    return {
      nLines: this.#nLines,
      waitingBytes,
      hoursLeft: new Set(left.map(({ id }) => id)).size,
      hoursMissed: state.nMissed,
      isDone: waitingBytes < BATCH_BYTES,
    };
  }

  /** Hours from before there was the store are sent as well, and all that was sent is counted again. */
  async migrate(nowMs: number): Promise<void> {
    const state = this.#state ?? (await this.#load(nowMs));
    state.since = '';
    for (const hour of Object.values(state.hours)) hour.isDone = false;
    await this.#save(state);
  }

  /** Whether the store has every hour that a search is about, but for what came in the last moments. */
  async covers(copy: Copy, { fromMs, toMs, classes }: SearchRequest): Promise<boolean> {
    const state = this.#state;
    if (state === undefined) return false;
    const files = (await listHourFiles(copy.path)).filter(({ className, hour }) => {
      if (!isIndexed(className) || classes?.includes(className) === false) return false;
      const { minMs, maxMs } = boundsOfHour(endOfHour(hour) - HOUR_MS);
      return maxMs >= fromMs && minMs < toMs;
    });
    return files.every((hour) => isWanted(state, hour) && leftOf(state, hour, copy) < BATCH_BYTES);
  }

  async #ship(state: SavedState, hour: HourFile, copy: Copy, deadline: number): Promise<void> {
    if (hour.isPacked) return await this.#shipPacked(state, hour, deadline);
    let offset = hour.sizeBytes - leftOf(state, hour, copy);
    await withFile(hour.path, async (file) => {
      for (let most = BATCH_BYTES; performance.now() <= deadline; ) {
        const bytes = Buffer.alloc(most);
        const { bytesRead } = await file.read(bytes, 0, most, offset);
        const end = endOfLines(bytes.subarray(0, bytesRead));
        if (end === undefined) {
          // A line that is not ended yet, or one that is longer than what was read.
          if (bytesRead < most || most > MOST_FRAME_BYTES) return;
          most *= 2;
          continue;
        }
        await this.#send(bytes.toString('utf8', 0, end), hour.hour);
        offset += end;
        state.hours[hour.id] = { copy: copy.number, offset, isDone: false };
        await this.#save(state);
      }
    });
  }

  /** An hour that is too large for one round goes on in the next one. */
  async #shipPacked(state: SavedState, hour: HourFile, deadline: number): Promise<void> {
    const reach = async (offset: number, isDone: boolean): Promise<void> => {
      state.hours[hour.id] = { copy: undefined, offset, isDone };
      await this.#save(state);
    };
    await withFile(hour.path, async (file) => {
      const known = state.hours[hour.id];
      const from = known !== undefined && known.copy === undefined ? known.offset : 0;
      if (from === 0) {
        let nLines = 0;
        for await (const place of framesOf(file)) nLines += linesOf((await readFrame(file, place)).toString()).length;
        if ((await this.#lines.countOf(hour.className, hour.hour)) === nLines) return await reach(0, true);
      }
      for await (const place of framesOf(file, from)) {
        if (performance.now() > deadline) return;
        await this.#send((await readFrame(file, place)).toString(), hour.hour);
        await reach(place.offset + place.sizeBytes, false);
      }
      await reach(0, true);
    });
  }

  async #send(text: string, hour: string): Promise<void> {
    const lines = linesOf(text);
    for (let at = 0; at < lines.length; at += BATCH_LINES) await this.#lines.insert(lines.slice(at, at + BATCH_LINES), hour);
    this.#nLines += lines.length;
  }

  #forgetRemoved(state: SavedState, files: readonly HourFile[]): void {
    const ids = new Set(files.map(({ id }) => id));
    for (const [id, { isDone }] of Object.entries(state.hours)) {
      if (ids.has(id)) continue;
      if (!isDone) state.nMissed += 1;
      delete state.hours[id];
    }
  }

  async #load(nowMs: number): Promise<SavedState> {
    const text = await readFile(this.#file, 'utf8').catch(() => undefined);
    const { place } = this.#lines;
    const saved = parsed(text);
    this.#state =
      saved?.place === place ? saved : { place, since: new Date(nowMs).toISOString().slice(0, 13), hours: {}, nMissed: 0 };
    return this.#state;
  }

  async #save(state: SavedState): Promise<void> {
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o750 });
    await writeFileAtomically(this.#file, JSON.stringify(state), 0o600);
  }
}

function isWanted({ since, hours }: SavedState, { id, hour }: HourFile): boolean {
  return hour >= since || hours[id] !== undefined;
}

/** Bytes that wait. */
function leftOf({ hours }: SavedState, { id, isPacked, sizeBytes }: HourFile, copy: Copy): number {
  const known = hours[id];
  if (known?.isDone === true && isPacked) return 0;
  const isOfFile = known !== undefined && known.copy === (isPacked ? undefined : copy.number) && known.offset <= sizeBytes;
  // A packed file of which every frame was sent waits for being done with.
  return Math.max(isPacked ? 1 : 0, isOfFile ? sizeBytes - known.offset : sizeBytes);
}

function linesOf(text: string): TimedLine[] {
  const read: ReadLines = { lines: [], nBad: 0, nRedacted: 0 };
  for (const line of text.split('\n')) readLines(line, read);
  return read.lines;
}

function parsed(text: string | undefined): SavedState | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as SavedState);
  } catch {
    return undefined;
  }
}
