/** The events of a goal as they are written, whichever node works at it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStream } from '../../platform/http/route.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import type { GoalStore } from './goal-store.ts';

interface GoalEventsOptions {
  readonly store: Pick<GoalStore, 'events'>;
  readonly scope: TenantScope;
  readonly goal: string;
  /** The number of the last event that the client has. */
  readonly after: number;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
}

const POLL_MS = 250;
/** Connections on which nothing is sent are cut by proxies on the way. */
const QUIET_MS = 15_000;
const MAX_AT_ONCE = 100;

export class GoalEvents {
  readonly #options: GoalEventsOptions;

  constructor(options: GoalEventsOptions) {
    this.#options = options;
  }

  /** Resolves when the goal has ended or the client is gone. */
  async send(stream: EventStream): Promise<void> {
    const { store, scope, goal, signal } = this.#options;
    let { after } = this.#options;
    let drained = Promise.withResolvers<void>();
    let quietSince = performance.now();
    stream.onDrain(() => drained.resolve());
    signal.addEventListener('abort', () => drained.resolve(), { once: true });
    try {
      while (!signal.aborted) {
        const rows = await store.events(scope, goal, after, MAX_AT_ONCE);
        const frames = rows.map(({ seq, type, data }) => `id: ${seq}\nevent: ${type}\ndata: ${data}\n\n`);
        const isQuiet = rows.length === 0 && performance.now() - quietSince > QUIET_MS;
        after = rows.at(-1)?.seq ?? after;
        if (rows.length > 0 || isQuiet) {
          quietSince = performance.now();
          drained = Promise.withResolvers<void>();
          if (!stream.write(isQuiet ? ': \n\n' : frames.join(''))) await drained.promise;
        }
        if (rows.some(({ type }) => type === 'end')) break;
        if (rows.length < MAX_AT_ONCE) await sleep(POLL_MS, undefined, { signal });
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      if (!signal.aborted) stream.end();
    }
  }
}
