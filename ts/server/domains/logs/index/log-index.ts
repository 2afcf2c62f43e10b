/** The index of collected logs: kept up with the copy that is read, searched and followed, in two threads. */
import { join } from 'node:path';
import type { Log } from '../../../platform/log/log.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import type { HealthReason } from '../../../platform/module/module.ts';
import { Repeater } from '../../../platform/repeater.ts';
import { logsError } from '../errors.ts';
import type { IndexState } from './indexed-copy.ts';
import type { TailNotice, TailRequest } from './log-messages.ts';
import { LogThread } from './log-thread.ts';
import type { Filters } from './query.ts';
import type { Copy, Found, SearchRequest } from './search.ts';
import type { ShipState } from './shipped-lines.ts';

interface LogIndexDeps {
  dataDir: string;
  log: Log;
  metrics: MetricsRegistry;
  now(): number;
  /** A database that lines are sent to and searched in; empty: there is none. */
  storeUrl: string;
  /** The copies, and which of them is read; undefined: nothing is collected. */
  reading(): { copy: string | null; copies: readonly string[]; sources: unknown } | undefined;
}

interface TailClient {
  onNotice(notice: TailNotice): void;
  /** Nothing comes any more: the client is to ask again. */
  onEnd(): void;
}

const ADVANCE_MS = 1_000;
const NOTHING_SENT: ShipState = { nLines: 0, waitingBytes: 0, hoursLeft: 0, hoursMissed: 0, isDone: false };
const NOTHING: IndexState = { nLines: 0, nQuarantined: 0, nRedacted: 0, sizeBytes: 0, isDone: true, faults: [] };

export class LogIndex {
  readonly #deps: LogIndexDeps;
  readonly #indexing: LogThread;
  readonly #searching: LogThread;
  readonly #storing: LogThread;
  readonly #advances: Repeater;
  readonly #ships: Repeater;
  /** With the sources by which the client's rights were judged; undefined: it may read all. */
  readonly #tails = new Map<number, { client: TailClient; sources: unknown }>();
  readonly #metrics: ReturnType<typeof logIndexMetrics>;
  #state = NOTHING;
  /** The time when all was indexed that there was. */
  #doneAt: number;
  #faults = '';
  #sent = NOTHING_SENT;
  /** The last fault of the store; null: it takes lines; undefined: nobody knows yet. */
  #storeError: string | null | undefined;
  #lastTail = 0;
  #followed: string | undefined;
  #isStopping = false;

  constructor(deps: LogIndexDeps) {
    this.#deps = deps;
    const folder = join(deps.dataDir, 'cache', 'logs');
    this.#doneAt = deps.now();
    const onLost = (error: unknown): void => deps.log.warn('a thread of the index of collected logs ended', { error });
    const { storeUrl } = deps;
    this.#indexing = new LogThread({ folder, storeUrl: '', onNotice: () => undefined, onLost });
    this.#storing = new LogThread({ folder, storeUrl, onNotice: () => undefined, onLost });
    this.#searching = new LogThread({
      folder,
      storeUrl: '',
      onNotice: (notice) => this.#tails.get(notice.tail)?.client.onNotice(notice),
      onLost: (error) => {
        onLost(error);
        this.#endTails();
      },
    });
    const onError = (error: unknown): void => {
      if (!this.#isStopping) deps.log.warn('collected logs could not be indexed, and are tried again', { error });
    };
    this.#advances = new Repeater({ intervalMs: ADVANCE_MS, run: () => this.#advance(), onError });
    this.#ships = new Repeater({ intervalMs: ADVANCE_MS, run: () => this.#ship(), onError });
    this.#metrics = logIndexMetrics(deps.metrics, () => ({
      ...this.#state,
      waitingBytes: this.#sent.waitingBytes,
      lagSeconds: this.shown.lag_seconds,
      nTails: this.#tails.size,
    }));
  }

  start(): void {
    for (const thread of [this.#indexing, this.#searching, this.#storing]) thread.open();
    this.#isStopping = false;
    this.#doneAt = this.#deps.now();
    this.#advances.start();
    this.#storeError = undefined;
    if (this.#deps.storeUrl !== '') this.#ships.start();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#endTails();
    // A question that is open would keep the repeater waiting.
    const threads = [this.#indexing, this.#searching, this.#storing];
    await Promise.all([...threads.map((thread) => thread.close()), this.#advances.stop(), this.#ships.stop()]);
  }

  get shown(): { lines: number; bytes: number; lag_seconds: number; quarantined: number } {
    const { nLines, nQuarantined, sizeBytes, isDone } = this.#state;
    const lag = isDone ? 0 : Math.max(0, Math.round((this.#deps.now() - this.#doneAt) / 1000));
    return { lines: nLines, bytes: sizeBytes, lag_seconds: lag, quarantined: nQuarantined };
  }

  /** Null: there is none beside the files. */
  get shownStore() {
    if (this.#deps.storeUrl === '') return null;
    const { nLines, waitingBytes, hoursLeft, hoursMissed } = this.#sent;
    return {
      kind: 'clickhouse' as const,
      error: this.#storeError ?? null,
      sent_lines: nLines,
      waiting_bytes: waitingBytes,
      hours_left: hoursLeft,
      hours_missed: hoursMissed,
    };
  }

  /** Why operators should look at the store. */
  health(): HealthReason[] {
    if (typeof this.#storeError !== 'string') return [];
    return [
      {
        code: 'logs_store_unreachable',
        detail: 'The database of collected lines takes none; searches read the files, and lines wait there.',
      },
    ];
  }

  /** Has hours of before sent to the store as well. Throws DomainError `store_not_configured`. */
  async migrate(): Promise<void> {
    if (this.#deps.storeUrl === '') throw logsError('store_not_configured', 'logs.store.url is not set on this node.');
    await this.#storing.ask('migrate', { nowMs: this.#deps.now() });
    this.#ships.wake();
  }

  /** Throws DomainError: `rsyslog_not_configured`, `logs_unavailable` or `invalid_query`. */
  async search(q: string, filters: Filters, request: SearchRequest, signal: AbortSignal): Promise<Found & { tookMs: number }> {
    const startedAt = performance.now();
    const copy = this.#copy();
    try {
      const found =
        (await this.#searchStore(copy, q, filters, request, signal)) ??
        (await this.#searching.ask('search', { copy, q, filters, request }, signal));
      this.#metrics.searches.with({ outcome: found.isPartial ? 'partial' : 'whole' }).add();
      return { ...found, tookMs: Math.round(performance.now() - startedAt) };
    } catch (error) {
      this.#metrics.searches.with({ outcome: signal.aborted ? 'aborted' : 'failed' }).add();
      throw error;
    } finally {
      this.#metrics.seconds.observe((performance.now() - startedAt) / 1000);
    }
  }

  /** Resolves with how to stop. Throws as search() does. */
  async follow(request: TailRequest, client: TailClient): Promise<() => void> {
    const copy = this.#copy();
    const tail = ++this.#lastTail;
    this.#tails.set(tail, { client, sources: request.senders?.sources });
    try {
      await this.#searching.ask('follow', { tail, copy, request });
    } catch (error) {
      this.#tails.delete(tail);
      throw error;
    }
    return () => this.#unfollow(tail);
  }

  /** Removes the index; it is made again while searches go on without it. */
  async rebuild(): Promise<void> {
    await this.#indexing.ask('rebuild', {});
    this.#state = { ...NOTHING, isDone: false };
    this.#doneAt = this.#deps.now();
    this.#advances.wake();
  }

  /** Undefined: the files are to be read, since there is no store, or it has not all of the time, or it cannot be asked. */
  async #searchStore(copy: Copy, q: string, filters: Filters, request: SearchRequest, signal: AbortSignal) {
    if (this.#storeError !== null) return undefined;
    try {
      return (await this.#storing.ask('searchStore', { copy, q, filters, request }, signal)) ?? undefined;
    } catch (error) {
      if (signal.aborted || (error as { code?: string }).code === 'invalid_query') throw error;
      this.#noteStore((error as Error).message);
      return undefined;
    }
  }

  async #ship(): Promise<void> {
    const reading = this.#deps.reading();
    if (reading === undefined || reading.copy === null) return;
    try {
      const before = this.#sent.hoursMissed;
      this.#sent = await this.#storing.ask('ship', { copy: this.#copy(), nowMs: this.#deps.now() });
      if (this.#sent.hoursMissed > before)
        this.#deps.log.warn('hours of collected logs were removed before the store had all of them', {
          hours: this.#sent.hoursMissed,
        });
      this.#noteStore(null);
      if (!this.#sent.isDone) this.#ships.wake();
    } catch (error) {
      if (!this.#isStopping) this.#noteStore((error as Error).message);
    }
  }

  #noteStore(error: string | null): void {
    if (error !== null && typeof this.#storeError !== 'string')
      this.#deps.log.warn('the store of collected logs cannot be used; lines wait in the files, which are searched meanwhile', {
        error,
      });
    this.#storeError = error;
  }

  async #advance(): Promise<void> {
    const reading = this.#deps.reading();
    if (reading === undefined || reading.copy === null) return;
    // Whose lines a client may read may have changed: it asks again.
    for (const [tail, { client, sources }] of [...this.#tails]) {
      if (sources === undefined || sources === reading.sources) continue;
      this.#unfollow(tail);
      client.onEnd();
    }
    const copy = this.#copy();
    if (this.#followed !== copy.path && this.#tails.size > 0) await this.#searching.ask('followCopy', { copy });
    this.#followed = copy.path;
    const before = this.#state;
    this.#state = await this.#indexing.ask('advance', { copy });
    this.#metrics.redacted.add(Math.max(0, this.#state.nRedacted - before.nRedacted));
    if (this.#state.isDone) this.#doneAt = this.#deps.now();
    else this.#advances.wake();
    const faults = this.#state.faults.join('\n');
    if (faults !== this.#faults && faults !== '') this.#deps.log.warn('files of collected logs cannot be read', { faults });
    this.#faults = faults;
  }

  #copy(): Copy {
    const reading = this.#deps.reading();
    if (reading === undefined) throw logsError('rsyslog_not_configured', 'No collection is in force on this node.');
    if (reading.copy === null) throw logsError('logs_unavailable', 'No copy of the collected logs can be read.');
    return { path: reading.copy, number: reading.copies.indexOf(reading.copy) };
  }

  #unfollow(tail: number): void {
    if (this.#tails.delete(tail)) void this.#searching.ask('unfollow', { tail }).catch(() => undefined);
  }

  #endTails(): void {
    const all = [...this.#tails.values()];
    this.#tails.clear();
    for (const { client } of all) client.onEnd();
  }
}

function logIndexMetrics(
  metrics: MetricsRegistry,
  read: () => IndexState & { lagSeconds: number; nTails: number; waitingBytes: number },
) {
  const gauge = (name: string, help: string) => metrics.gauge(name, help).with();
  const lines = gauge('svc_logs_indexed_lines', 'Collected lines that the index has.');
  const bytes = gauge('svc_logs_index_bytes', 'Size of the index of collected lines.');
  const quarantined = gauge('svc_logs_quarantined_lines', 'Collected lines that cannot be read.');
  const lag = gauge('svc_logs_index_lag_seconds', 'Time since the index had all that was collected.');
  const tails = gauge('svc_logs_tail_clients', 'Clients that follow collected lines.');
  const waiting = gauge('svc_logs_store_waiting_bytes', 'Collected lines that are still to be sent to the store.');
  metrics.onCollect(() => {
    const { nLines, sizeBytes, nQuarantined, lagSeconds, nTails, waitingBytes } = read();
    waiting.set(waitingBytes);
    lines.set(nLines);
    bytes.set(sizeBytes);
    quarantined.set(nQuarantined);
    lag.set(lagSeconds);
    tails.set(nTails);
  });
  return {
    redacted: metrics
      .counter('svc_logs_redacted_total', 'Collected lines of which secrets were masked as they were indexed.')
      .with(),
    searches: metrics.counter('svc_logs_searches_total', 'Searches of collected lines, by how they ended.', ['outcome']),
    seconds: metrics.histogram('svc_logs_search_seconds', 'Time that searches of collected lines took.').with(),
  };
}
