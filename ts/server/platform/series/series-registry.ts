/** Named series of numbers: a module registers those that it has, and others read them by name within a tenant. */
import type { TenantScope } from '../storage/index.ts';

export interface SeriesPoint {
  /** Milliseconds since 1970. */
  readonly ts: number;
  readonly value: number;
}

interface SeriesFacts {
  readonly name: string;
  /** The unit of its values: `tokens`, `°C`. */
  readonly unit: string;
}

export interface SeriesSource {
  /** Names of its series begin with it and a dot. */
  readonly name: string;
  list(scope: TenantScope): Promise<readonly SeriesFacts[]>;
  /** Points at or after `since`, oldest first; undefined: the tenant has no such series. */
  read(scope: TenantScope, name: string, since: number): Promise<readonly SeriesPoint[] | undefined>;
}

export class SeriesRegistry {
  readonly #sources = new Map<string, SeriesSource>();

  constructor(sources: readonly SeriesSource[] = []) {
    for (const source of sources) this.register(source);
  }

  /** Once, while the modules are made. Throws for a name that is taken. */
  register(source: SeriesSource): void {
    if (this.#sources.has(source.name)) throw new Error(`two sources of series are called ${source.name}`);
    this.#sources.set(source.name, source);
  }

  /** Lists the series in the order of their names. */
  async list(scope: TenantScope): Promise<SeriesFacts[]> {
    const lists = await Promise.all([...this.#sources.values()].map((source) => source.list(scope)));
    return lists.flat().sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async read(scope: TenantScope, name: string, since: number): Promise<readonly SeriesPoint[] | undefined> {
    return await this.#sources.get(name.split('.')[0] ?? '')?.read(scope, name, since);
  }
}

export const SERIES_STEP_MS = 3_600_000;

/** Points of all hours from the first to that of `now`: an hour that nothing was counted in is one of 0. @param counts by the hours' begins. */
export function hourlyCounts(counts: ReadonlyMap<number, number>, now: number): SeriesPoint[] {
  if (counts.size === 0) return [];
  const first = [...counts.keys()].reduce((least, hour) => Math.min(least, hour));
  return Array.from({ length: Math.max(0, Math.ceil((now - first) / SERIES_STEP_MS)) }, (_, i) => {
    const ts = first + i * SERIES_STEP_MS;
    return { ts, value: counts.get(ts) ?? 0 };
  });
}

export interface NamedCount {
  /** A part of the whole: a kind of jobs, a class of lines. */
  readonly name: string;
  /** The hour's begin. */
  readonly hour: number;
  readonly n: number;
}

/** The series `whole`, and `whole.PART` of each part that counts name. @param read counts at or after a time; those of whole hours. */
export function countedSource(
  { source, whole, unit, now }: { source: string; whole: string; unit: string; now(): number },
  read: (scope: TenantScope, since: number) => Promise<readonly NamedCount[]>,
): SeriesSource {
  const namesOf = (counts: readonly NamedCount[]) =>
    counts.length === 0 ? [] : [whole, ...new Set(counts.map(({ name }) => `${whole}.${name}`))];
  return {
    name: source,
    list: async (scope) => namesOf(await read(scope, 0)).map((name) => ({ name, unit })),
    read: async (scope, wanted, since) => {
      const counts = await read(scope, since - (since % SERIES_STEP_MS));
      if (!namesOf(counts).includes(wanted)) return undefined;
      const byHour = new Map<number, number>();
      for (const { name, hour, n } of counts)
        if (wanted === whole || wanted === `${whole}.${name}`) byHour.set(hour, (byHour.get(hour) ?? 0) + n);
      return hourlyCounts(byHour, now());
    },
  };
}
