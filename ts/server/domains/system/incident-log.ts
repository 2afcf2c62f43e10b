/** What was wrong with the node since its process began: reasons of /health with their begin and their end. */
import type { HealthReason } from '../../platform/module/module.ts';

export interface Incident {
  code: string;
  detail: string;
  /** Unix milliseconds. */
  since: number;
  /** Undefined: it lasts. */
  endedAt: number | undefined;
}

/** A reason that comes and goes must not push out all others. */
const MOST_ENDED = 200;

export class IncidentLog {
  #open = new Map<string, Incident>();
  #ended: Incident[] = [];

  /** What holds now. A reason whose words change is the same one. */
  observe(reasons: readonly HealthReason[], now: number): void {
    const before = this.#open;
    this.#open = new Map(
      reasons.map(({ code, detail }) => [code, { code, detail, since: before.get(code)?.since ?? now, endedAt: undefined }]),
    );
    const over = [...before.values()].filter(({ code }) => !this.#open.has(code));
    this.#ended = [...over.map((incident) => ({ ...incident, endedAt: now })), ...this.#ended].slice(0, MOST_ENDED);
  }

  /** Those that last come first, then the ended ones, the latest first. */
  list(): Incident[] {
    return [...[...this.#open.values()].sort((a, b) => b.since - a.since), ...this.#ended];
  }
}
