/** Follows the open hours of the copy that is read, once for all clients, and hands each what it asked for. */
import { listHourFiles } from '../collection/copy-files.ts';
import { endOfLines, FRAME_BYTES, withFile } from '../collection/packed-frames.ts';
import { isIndexed } from './indexed-classes.ts';
import { type ReadLines, readLines, type TimedLine } from './log-line.ts';
import type { TailNotice, TailRequest } from './log-messages.ts';
import { filterTerms, type Matcher, matcherOf, parseQuery } from './query.ts';
import type { Copy } from './search.ts';
import { senderTest } from './sender-rule.ts';

interface Follower {
  tail: number;
  matcher: Matcher;
  classes: readonly string[] | undefined;
  isOfSender: (address: string) => boolean;
}

interface Event extends TimedLine {
  seq: number;
}

const LOOK_MS = 250;
/** Bytes of one file in one look; what is more is left out, so that a flood does not hold the rest up. */
const MOST_BYTES_A_LOOK = 4 * 1024 * 1024;
/** Events of one client in one look. */
const MOST_EVENTS = 500;
/** Kept for clients that come again. */
const MOST_RECENT = 5_000;
/** So long it goes on without any client. */
const LINGER_MS = 60_000;

export class Tail {
  readonly #send: (notice: TailNotice) => void;
  /** The name of this follower; ids of another one mean nothing to it. */
  readonly #epoch = Date.now().toString(36);
  readonly #followers = new Map<number, Follower>();
  /** Bytes that were read, by file. */
  #offsets = new Map<string, number>();
  #recent: Event[] = [];
  #seq = 0;
  #copy: Copy | undefined;
  #timer: NodeJS.Timeout | undefined;
  #idleSince = 0;
  #isRunning = false;

  constructor(send: (notice: TailNotice) => void) {
    this.#send = send;
  }

  /** Throws QueryError. */
  async follow(tail: number, copy: Copy, { q, filters, classes, senders, lastId }: TailRequest): Promise<void> {
    const follower = {
      tail,
      matcher: matcherOf([...parseQuery(q), ...filterTerms(filters)]),
      classes,
      isOfSender: senderTest(senders),
    };
    await this.#use(copy);
    this.#followers.set(tail, follower);
    if (lastId !== undefined) this.#resume(follower, lastId);
  }

  unfollow(tail: number): void {
    this.#followers.delete(tail);
    this.#idleSince = performance.now();
  }

  /** Another copy is read from now on. */
  async followCopy(copy: Copy): Promise<void> {
    if (this.#isRunning) await this.#use(copy);
  }

  /** Begins at the ends of the files. Lines that come while the copies change places are counted by nobody. */
  async #use(copy: Copy): Promise<void> {
    if (this.#isRunning && copy.path === this.#copy?.path) return;
    this.#isRunning = true;
    clearTimeout(this.#timer);
    this.#copy = copy;
    this.#recent = [];
    const files = await listHourFiles(copy.path).catch(() => []);
    this.#offsets = new Map(files.map(({ path, sizeBytes }) => [path, sizeBytes]));
    for (const tail of this.#followers.keys()) this.#send({ tail, events: [], missed: null });
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const copy = this.#copy;
    if (copy === undefined) return;
    if (this.#followers.size === 0 && performance.now() - this.#idleSince > LINGER_MS) {
      this.#isRunning = false;
      return;
    }
    const events: Event[] = [];
    let nLeftOut = 0;
    for (const file of await listHourFiles(copy.path).catch(() => [])) {
      if (file.isPacked || !isIndexed(file.className)) continue;
      const before = this.#offsets.get(file.path) ?? 0;
      // A file that is shorter than it was is another one.
      const from = file.sizeBytes < before ? 0 : before;
      const begin = Math.max(from, file.sizeBytes - MOST_BYTES_A_LOOK);
      const lines =
        begin === file.sizeBytes ? undefined : await readLinesOf(file.path, begin, file.sizeBytes).catch(() => undefined);
      if (lines === undefined) continue;
      if (begin > from) nLeftOut += Math.round((begin - from) / (lines.sizeBytes / Math.max(1, lines.read.lines.length)));
      this.#offsets.set(file.path, begin + lines.sizeBytes);
      for (const line of lines.read.lines) events.push({ ...line, seq: ++this.#seq });
    }
    if (this.#copy === copy) {
      this.#recent = [...this.#recent, ...events].slice(-MOST_RECENT);
      if (events.length > 0) for (const follower of this.#followers.values()) this.#hand(follower, events, nLeftOut);
      this.#wait();
    }
  }

  #hand({ tail, matcher, classes, isOfSender }: Follower, events: readonly Event[], nLeftOut: number): void {
    const found = events.filter(
      ({ line }) =>
        (classes === undefined || classes.includes(line.class)) && isOfSender(line.fromhost_ip) && matcher.matches(line),
    );
    const shown = found.slice(-MOST_EVENTS);
    const missed = nLeftOut + found.length - shown.length;
    if (shown.length === 0 && missed === 0) return;
    const sent = shown.map(({ seq, line, source }) => ({ id: `${this.#epoch}-${seq}`, line, source }));
    this.#send({ tail, events: sent, missed });
  }

  #resume(follower: Follower, lastId: string): void {
    const [, epoch, number] = /^([0-9a-z]{1,16})-(\d{1,15})$/.exec(lastId) ?? [];
    const behind = Number(number);
    const first = this.#recent[0]?.seq ?? this.#seq + 1;
    if (epoch !== this.#epoch || behind > this.#seq || behind < first - 1)
      this.#send({ tail: follower.tail, events: [], missed: null });
    else
      this.#hand(
        follower,
        this.#recent.filter(({ seq }) => seq > behind),
        0,
      );
  }
}

async function readLinesOf(path: string, begin: number, end: number): Promise<{ read: ReadLines; sizeBytes: number }> {
  const bytes = await withFile(path, async (file) => {
    const buffer = Buffer.alloc(end - begin);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, begin);
    return buffer.subarray(0, bytesRead);
  });
  const read: ReadLines = { lines: [], nBad: 0, nRedacted: 0 };
  let sizeBytes = 0;
  for (
    let size = endOfLines(bytes);
    size !== undefined;
    size = endOfLines(bytes.subarray(sizeBytes, sizeBytes + 2 * FRAME_BYTES))
  ) {
    const text = bytes.toString('utf8', sizeBytes, sizeBytes + size);
    for (const line of text.split('\n')) readLines(line, read);
    sizeBytes += size;
  }
  return { read, sizeBytes };
}
