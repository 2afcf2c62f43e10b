/** Watches the health of the node for its incidents. */
import type { Log } from '../../platform/log/log.ts';
import type { Node } from '../../platform/node/node.ts';
import { Repeater } from '../../platform/repeater.ts';
import { reasonsOf } from './health.ts';
import { type Incident, IncidentLog } from './incident-log.ts';

const LOOK_MS = 10_000;
/** States that every start and every stop has. */
const ORDINARY = new Set(['model_loading', 'draining', 'starting']);

export class Incidents {
  readonly #node: Node;
  readonly #log = new IncidentLog();
  readonly #watch: Repeater;

  constructor(node: Node, log: Log) {
    this.#node = node;
    const onError = (error: unknown): void => log.warn('the health of the node could not be looked at', { error: String(error) });
    this.#watch = new Repeater({ intervalMs: LOOK_MS, run: () => this.#look(), onError });
  }

  start(): void {
    this.#watch.start();
  }

  async stop(): Promise<void> {
    await this.#watch.stop();
  }

  /** Those that last come first, then those that ended, the latest first. */
  async list(): Promise<Incident[]> {
    await this.#look();
    const reports = [...(await this.#node.health()).values()];
    const found = reports.flatMap(({ incidents = [] }) => incidents.map((one): Incident => ({ ...one, endedAt: one.endedAt })));
    if (found.length === 0) return this.#log.list();
    const all = [...this.#log.list(), ...found].toSorted((a, b) => b.since - a.since);
    return [...all.filter(({ endedAt }) => endedAt === undefined), ...all.filter(({ endedAt }) => endedAt !== undefined)];
  }

  async #look(): Promise<void> {
    const waiting = this.#node.notReady();
    const reasons = await reasonsOf(this.#node);
    const all = waiting === undefined || ORDINARY.has(waiting.code) ? reasons : [waiting, ...reasons];
    this.#log.observe(all, Date.now());
  }
}
