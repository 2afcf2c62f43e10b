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
