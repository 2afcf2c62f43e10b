/** Public lists of addresses: fetched again and again, the last good one kept. What they name is marked. */
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { HttpClient } from '../../../platform/network/http-client.ts';
import { Repeater } from '../../../platform/repeater.ts';
import { type AddressRange, AddressRanges, overlaps, rangeOf } from './address-ranges.ts';
import type { RuleStore } from './rule-store.ts';
import { type BlockListRow, everyLine } from './tables.ts';

interface BlockListsDeps {
  store: RuleStore;
  http: HttpClient;
  /** The last good ones lie in it. */
  folder: string;
  log: Log;
  now(): number;
  /** Networks that no list may name. */
  ownNetworks(): readonly string[];
}

interface KnownList {
  row: BlockListRow;
  ranges: AddressRanges;
  entries: number;
  /** Entries that name our own networks, or ones that nobody reaches. */
  dropped: number;
  fetchedMs: number | undefined;
  triedMs: number;
  error: string | null;
}

const LOOK_MS = 30_000;
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_ENTRIES = 500_000;
const MOST_REDIRECTS = 3;
/** A list that names half of the internet is none. */
const LEAST_PREFIX = { 4: 8, 6: 16 } as const;

/** Private, loopback, multicast and special networks (RFC 6890). Of IPv6 only global unicast is public. */
const NOT_PUBLIC: readonly AddressRange[] = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3', '::/3', '4000::/2', '8000::/1', '2001:db8::/32'],
].flatMap((text) => rangeOf(text) ?? []);

/** Reads netsets, DROP lists with `;` and DROP lists of JSON lines. */
export function readBlockList(text: string, own: readonly string[]): { ranges: AddressRange[]; dropped: number } {
  const forbidden = [...NOT_PUBLIC, ...own.flatMap((network) => rangeOf(network) ?? [])];
  const ranges: AddressRange[] = [];
  let dropped = 0;
  for (const line of text.split('\n')) {
    const entry = entryOf(line);
    if (entry === undefined) continue;
    const range = rangeOf(entry);
    if (range === undefined) continue;
    if (isTooWide(entry) || forbidden.some((one) => overlaps(one, range))) dropped += 1;
    else ranges.push(range);
    if (ranges.length > MOST_ENTRIES) throw new Error(`it has more than ${MOST_ENTRIES} entries`);
  }
  if (ranges.length === 0) throw new Error('it has no address or network that could be marked');
  return { ranges, dropped };
}

function entryOf(line: string): string | undefined {
  if (line.startsWith('{')) return /"cidr"\s*:\s*"([^"]{1,50})"/.exec(line)?.[1];
  const [entry = ''] = line.split(/[\s;#,]/, 1);
  return entry === '' ? undefined : entry;
}

function isTooWide(entry: string): boolean {
  const [address = '', prefix] = entry.split('/');
  return prefix !== undefined && Number(prefix) < LEAST_PREFIX[address.includes(':') ? 6 : 4];
}

export class BlockLists {
  readonly #deps: BlockListsDeps;
  readonly #lists = new Map<string, KnownList>();
  readonly #looks: Repeater;
  #isStopping = false;

  constructor(deps: BlockListsDeps) {
    this.#deps = deps;
    const onError = (error: unknown): void => {
      if (!this.#isStopping) deps.log.warn('block lists could not be looked at', { error });
    };
    this.#looks = new Repeater({ intervalMs: LOOK_MS, run: () => this.look(), onError });
  }

  start(): void {
    this.#isStopping = false;
    this.#looks.start();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#deps.http.close();
    await this.#looks.stop();
  }

  /** The names of lists that name one of the addresses. */
  marksOf(addresses: readonly string[]): string[] {
    if (this.#lists.size === 0) return [];
    return [...this.#lists].flatMap(([name, { ranges }]) => (addresses.some((address) => ranges.has(address)) ? [name] : []));
  }

  get shown() {
    const sorted = [...this.#lists.values()].sort((a, b) => (a.row.name < b.row.name ? -1 : 1));
    return sorted.map(({ row, entries, dropped, fetchedMs, error }) => ({
      name: row.name,
      url: row.url,
      path: row.path,
      refresh_minutes: row.refresh_minutes,
      entries,
      dropped,
      fetched_at: fetchedMs === undefined ? null : new Date(fetchedMs).toISOString(),
      error,
    }));
  }

  /** Reads what is due; lists that are new at once. */
  async look(): Promise<void> {
    const { store, now } = this.#deps;
    const rows = await store.blockLists(everyLine());
    for (const name of [...this.#lists.keys()]) if (!rows.some((row) => row.name === name)) await this.#forget(name);
    for (const row of rows) {
      const known = this.#lists.get(row.name);
      const isSame = known !== undefined && known.row.url === row.url && known.row.path === row.path;
      const list = isSame ? known : await this.#lastGood(row);
      list.row = row;
      this.#lists.set(row.name, list);
      if (now() - list.triedMs < row.refresh_minutes * 60_000) continue;
      await this.#refresh(list);
    }
  }

  async #refresh(list: KnownList): Promise<void> {
    const { log, now, ownNetworks } = this.#deps;
    list.triedMs = now();
    try {
      const text = await this.#read(list.row);
      const { ranges, dropped } = readBlockList(text, ownNetworks());
      await mkdir(this.#deps.folder, { recursive: true, mode: 0o750 });
      await writeFileAtomically(this.#fileOf(list.row), text, 0o600);
      Object.assign(list, {
        ranges: new AddressRanges(ranges),
        entries: ranges.length,
        dropped,
        fetchedMs: list.triedMs,
        error: null,
      });
    } catch (error) {
      if (this.#isStopping) return;
      list.error = (error as Error).message;
      log.warn('a block list could not be read; the last good one is used', { list: list.row.name, error: list.error });
    }
  }

  async #read({ url, path }: BlockListRow): Promise<string> {
    if (path !== null) {
      const found = await stat(path);
      if (!found.isFile()) throw new Error(`${path} is no file`);
      if (found.size > MOST_BYTES) throw new Error(`${path} has more than ${MOST_BYTES} bytes`);
      return await readFile(path, 'utf8');
    }
    const response = await this.#deps.http.request(new URL(url ?? ''), { maxRedirects: MOST_REDIRECTS });
    if (!response.isOk) {
      response.discard();
      throw new Error(`the server answered ${response.status}`);
    }
    return (await response.bytes(MOST_BYTES)).toString('utf8');
  }

  async #lastGood(row: BlockListRow): Promise<KnownList> {
    const list: KnownList = {
      row,
      ranges: new AddressRanges([]),
      entries: 0,
      dropped: 0,
      fetchedMs: undefined,
      triedMs: Number.NEGATIVE_INFINITY,
      error: null,
    };
    const file = this.#fileOf(row);
    try {
      const { mtimeMs } = await stat(file);
      const { ranges, dropped } = readBlockList(await readFile(file, 'utf8'), this.#deps.ownNetworks());
      return { ...list, ranges: new AddressRanges(ranges), entries: ranges.length, dropped, fetchedMs: mtimeMs };
    } catch {
      return list;
    }
  }

  async #forget(name: string): Promise<void> {
    this.#lists.delete(name);
    const files = await readdir(this.#deps.folder).catch(() => []);
    for (const file of files) if (file.startsWith(`${name}.`)) await rm(join(this.#deps.folder, file), { force: true });
  }

  /** Named by its address too: a list that is read from elsewhere is another one. */
  #fileOf({ name, url, path }: BlockListRow): string {
    return join(
      this.#deps.folder,
      `${name}.${Buffer.from(url ?? path ?? '')
        .toString('base64url')
        .slice(-40)}.list`,
    );
  }
}
