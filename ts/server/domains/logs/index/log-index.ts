/** The index of collected logs: kept up with the copy that is read, searched and followed, in two threads. */
import { join } from 'node:path';
import type { Log } from '../../../platform/log/log.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { Repeater } from '../../../platform/repeater.ts';
import { logsError } from '../errors.ts';
import type { IndexState } from './indexed-copy.ts';
import type { TailNotice, TailRequest } from './log-messages.ts';
import { LogThread } from './log-thread.ts';
import type { Filters } from './query.ts';
import type { Copy, Found, SearchRequest } from './search.ts';

interface LogIndexDeps {
  dataDir: string;
  log: Log;
  metrics: MetricsRegistry;
  now(): number;
  /** The copies, and which of them is read; undefined: nothing is collected. */
  reading(): { copy: string | null; copies: readonly string[]; sources: unknown } | undefined;
}

interface TailClient {
  onNotice(notice: TailNotice): void;
  /** Nothing comes any more: the client is to ask again. */
  onEnd(): void;
}

const ADVANCE_MS = 1_000;
const NOTHING: IndexState = { nLines: 0, nQuarantined: 0, nRedacted: 0, sizeBytes: 0, isDone: true, faults: [] };

export class LogIndex {
  readonly #deps: LogIndexDeps;
  readonly #indexing: LogThread;
  readonly #searching: LogThread;
  readonly #advances: Repeater;
  readonly #tails = new Map<number, TailClient>();
  readonly #metrics: ReturnType<typeof logIndexMetrics>;
  #state = NOTHING;
  /** The time when all was indexed that there was. */
  #doneAt: number;
  #faults = '';
  #lastTail = 0;
  #followed: string | undefined;
  #sources: unknown;
  #isStopping = false;

  constructor(deps: LogIndexDeps) {
    this.#deps = deps;
    const folder = join(deps.dataDir, 'cache', 'logs');
    this.#doneAt = deps.now();
    const onLost = (error: unknown): void => deps.log.warn('a thread of the index of collected logs ended', { error });
    this.#indexing = new LogThread({ folder, onNotice: () => undefined, onLost });
    this.#searching = new LogThread({
      folder,
      onNotice: (notice) => this.#tails.get(notice.tail)?.onNotice(notice),
      onLost: (error) => {
        onLost(error);
        this.#endTails();
      },
    });
    const onError = (error: unknown): void => {
      if (!this.#isStopping) deps.log.warn('collected logs could not be indexed, and are tried again', { error });
    };
    this.#advances = new Repeater({ intervalMs: ADVANCE_MS, run: () => this.#advance(), onError });
    this.#metrics = logIndexMetrics(deps.metrics, () => ({
      ...this.#state,
      lagSeconds: this.shown.lag_seconds,
      nTails: this.#tails.size,
    }));
  }

  start(): void {
    for (const thread of [this.#indexing, this.#searching]) thread.open();
    this.#isStopping = false;
    this.#doneAt = this.#deps.now();
    this.#advances.start();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#endTails();
    // A question that is open would keep the repeater waiting.
    await Promise.all([this.#indexing.close(), this.#searching.close(), this.#advances.stop()]);
  }

  get shown(): { lines: number; bytes: number; lag_seconds: number; quarantined: number } {
    const { nLines, nQuarantined, sizeBytes, isDone } = this.#state;
    const lag = isDone ? 0 : Math.max(0, Math.round((this.#deps.now() - this.#doneAt) / 1000));
    return { lines: nLines, bytes: sizeBytes, lag_seconds: lag, quarantined: nQuarantined };
  }

  /** Throws DomainError: `rsyslog_not_configured`, `logs_unavailable` or `invalid_query`. */
  async search(q: string, filters: Filters, request: SearchRequest, signal: AbortSignal): Promise<Found & { tookMs: number }> {
    const startedAt = performance.now();
    const copy = this.#copy();
    try {
      const found = await this.#searching.ask('search', { copy, q, filters, request }, signal);
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
    this.#tails.set(tail, client);
    const stop = (): void => {
      if (this.#tails.delete(tail)) void this.#searching.ask('unfollow', { tail }).catch(() => undefined);
    };
    try {
      await this.#searching.ask('follow', { tail, copy, request });
    } catch (error) {
      this.#tails.delete(tail);
      throw error;
    }
    return stop;
  }

  /** Removes the index; it is made again while searches go on without it. */
  async rebuild(): Promise<void> {
    await this.#indexing.ask('rebuild', {});
    this.#state = { ...NOTHING, isDone: false };
    this.#doneAt = this.#deps.now();
    this.#advances.wake();
  }

  async #advance(): Promise<void> {
    const reading = this.#deps.reading();
    if (reading === undefined || reading.copy === null) return;
    const copy = this.#copy();
    if (this.#followed !== copy.path && this.#tails.size > 0) await this.#searching.ask('followCopy', { copy });
    this.#followed = copy.path;
    // Whose lines a client may read may have changed: it asks again.
    if (this.#sources !== undefined && this.#sources !== reading.sources) this.#endTails();
    this.#sources = reading.sources;
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

  #endTails(): void {
    const clients = [...this.#tails.values()];
    this.#tails.clear();
    for (const client of clients) client.onEnd();
  }
}

function logIndexMetrics(metrics: MetricsRegistry, read: () => IndexState & { lagSeconds: number; nTails: number }) {
  const gauge = (name: string, help: string) => metrics.gauge(name, help).with();
  const lines = gauge('svc_logs_indexed_lines', 'Collected lines that the index has.');
  const bytes = gauge('svc_logs_index_bytes', 'Size of the index of collected lines.');
  const quarantined = gauge('svc_logs_quarantined_lines', 'Collected lines that cannot be read.');
  const lag = gauge('svc_logs_index_lag_seconds', 'Time since the index had all that was collected.');
  const tails = gauge('svc_logs_tail_clients', 'Clients that follow collected lines.');
  metrics.onCollect(() => {
    const { nLines, sizeBytes, nQuarantined, lagSeconds, nTails } = read();
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
