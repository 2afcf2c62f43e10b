/** Readings of the last minutes, and the lines that plots draw of them. */
import { gauge, percentile, type Reading, rate } from './metrics.ts';

const MAX_READINGS = 180;

export class History {
  readonly readings: readonly Reading[];

  constructor(readings: readonly Reading[] = []) {
    this.readings = readings.slice(-MAX_READINGS);
  }

  with(reading: Reading): History {
    return new History([...this.readings, reading]);
  }

  get times(): number[] {
    return this.readings.slice(1).map(({ at }) => at);
  }

  rates(name: string): (number | null)[] {
    return this.#between((before, now) => rate(before, now, name));
  }

  percentiles(name: string, share: number): (number | null)[] {
    return this.#between((before, now) => percentile(before, now, name, share));
  }

  gauges(name: string): (number | null)[] {
    return this.#between((_before, now) => gauge(now, name));
  }

  #between(value: (before: Reading, now: Reading) => number | undefined): (number | null)[] {
    return this.readings.slice(1).map((now, index) => value(this.readings[index] as Reading, now) ?? null);
  }
}
