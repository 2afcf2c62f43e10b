/** Keeps the events of all streams within the limits: of a stream, of a tenant, of all together. */
import type { ResumableStream } from './resumable-stream.ts';
import { LEAST_BYTES, type StreamLimits } from './stream-limits.ts';

interface MemoryActions {
  /** It has ended, and is not kept any longer. */
  remove(stream: ResumableStream): void;
  /** Nobody reads it, and it takes too much. */
  abandon(stream: ResumableStream): void;
}

export class StreamMemory {
  readonly #limits: StreamLimits;
  readonly #actions: MemoryActions;
  readonly #sizes = new Map<ResumableStream, number>();
  readonly #tenants = new Map<string, number>();
  #totalBytes = 0;

  constructor(limits: StreamLimits, actions: MemoryActions) {
    this.#limits = limits;
    this.#actions = actions;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** Whether another stream may begin, after ended ones have made room. */
  hasSpace(tenant: string): boolean {
    this.#makeSpace(tenant, LEAST_BYTES);
    return !this.#isOver(tenant, LEAST_BYTES);
  }

  add(stream: ResumableStream): void {
    this.#set(stream, stream.sizeBytes);
  }

  /** Notes what a stream takes by now. */
  account(stream: ResumableStream): void {
    if (this.#sizes.has(stream)) this.#set(stream, stream.sizeBytes);
  }

  release(stream: ResumableStream): void {
    this.#set(stream, 0);
    this.#sizes.delete(stream);
    for (const other of [...this.#sizes.keys()]) other.resumeIfPaused();
  }

  /** Makes room for what a stream has grown to. True: there is none, and the stream must not grow until a reader is further. */
  mustPause(stream: ResumableStream): boolean {
    const { streamBytes } = this.#limits;
    const { tenant } = stream.about.owner;
    this.account(stream);
    if (stream.sizeBytes > streamBytes) this.#shrink(stream, streamBytes);
    if (this.#isOver(tenant)) this.#makeSpace(tenant);
    if (stream.state !== 'running') return true;
    return stream.sizeBytes > streamBytes || (this.#isOver(tenant) && stream.sizeBytes > LEAST_BYTES);
  }

  #isOver(tenant: string, more = 0): boolean {
    const { tenantBytes, totalBytes } = this.#limits;
    return this.#ofTenant(tenant) + more > tenantBytes || this.#totalBytes + more > totalBytes;
  }

  /** Makes space: from the tenant when it has too much, else from the tenant that has most. Ended streams go first, then those that have most. */
  #makeSpace(tenant: string, more = 0): void {
    const { tenantBytes, totalBytes } = this.#limits;
    this.#shrinkTenant(tenant, () => this.#ofTenant(tenant) + more > tenantBytes);
    const [heaviest] = [...this.#tenants].toSorted(([, a], [, b]) => b - a);
    if (heaviest !== undefined) this.#shrinkTenant(heaviest[0], () => this.#totalBytes + more > totalBytes);
  }

  #shrinkTenant(tenant: string, isOver: () => boolean): void {
    if (!isOver()) return;
    const streams = [...this.#sizes.keys()].filter(({ about }) => about.owner.tenant === tenant);
    const ended = streams.filter(({ state }) => state !== 'running');
    for (const stream of ended.toSorted((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0))) {
      if (!isOver()) return;
      this.#actions.remove(stream);
    }
    const running = streams.filter(({ state }) => state === 'running');
    for (const stream of running.toSorted((a, b) => b.sizeBytes - a.sizeBytes)) {
      if (!isOver() || stream.sizeBytes <= LEAST_BYTES) return;
      this.#shrink(stream, Math.max(LEAST_BYTES, stream.sizeBytes / 2));
    }
  }

  #shrink(stream: ResumableStream, maxBytes: number): void {
    if (stream.isRead) stream.forget(maxBytes);
    else this.#actions.abandon(stream);
  }

  #ofTenant(tenant: string): number {
    return this.#tenants.get(tenant) ?? 0;
  }

  #set(stream: ResumableStream, sizeBytes: number): void {
    const { tenant } = stream.about.owner;
    const grown = sizeBytes - (this.#sizes.get(stream) ?? 0);
    this.#sizes.set(stream, sizeBytes);
    this.#totalBytes += grown;
    const ofTenant = this.#ofTenant(tenant) + grown;
    if (ofTenant > 0) this.#tenants.set(tenant, ofTenant);
    else this.#tenants.delete(tenant);
  }
}
