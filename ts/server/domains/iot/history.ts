/** Samples of readings and their hourly means. Readings are gathered, and written together once a second. */
import { sql } from 'kysely';
import type { Log } from '../../platform/log/log.ts';
import { Repeater } from '../../platform/repeater.ts';
import { deleteInBatches, type TenantScope } from '../../platform/storage/index.ts';
import type { Device, Variable } from './profile.ts';
import type { Reading } from './readings.ts';
import { everyDevice, type HourRow, type IotStorage, type SampleRow } from './tables.ts';

interface HistoryOptions {
  readonly storage: IotStorage;
  readonly log: Log;
  readonly now: () => number;
  /** A variable has at most one sample in so long a time. */
  readonly sampleMs: number;
  readonly keepSamplesMs: number;
  readonly keepHoursMs: number;
}

interface HistoryQuery {
  readonly device: string;
  readonly variable: string;
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

const FLUSH_MS = 1_000;
export const HOUR_MS = 3_600_000;
const UPKEEP_MS = 10 * 60_000;
/** Samples of an hour are on disk so long after its end, on every node. */
const SETTLED_MS = 5 * 60_000;
const ROWS_AT_ONCE = 500;
/** While the database takes none. */
const MOST_GATHERED = 100_000;

export class History {
  readonly #options: HistoryOptions;
  /** The last sample of each variable, by its device: looked at for each reading. */
  readonly #last = new Map<string, Map<string, Pick<SampleRow, 'at' | 'quality'>>>();
  readonly #flusher: Repeater;
  readonly #upkeep: Repeater;
  #gathered: SampleRow[] = [];

  constructor(options: HistoryOptions) {
    this.#options = options;
    const { log } = options;
    this.#flusher = new Repeater({
      intervalMs: FLUSH_MS,
      run: () => this.flush(),
      onError: (error) => log.warn('samples of devices could not be written', { error: String(error) }),
    });
    this.#upkeep = new Repeater({
      intervalMs: UPKEEP_MS,
      run: () => this.keepUp(),
      onError: (error) => log.warn('the history of devices could not be kept up', { error: String(error) }),
    });
  }

  start(): void {
    this.#flusher.start();
    this.#upkeep.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#flusher.stop(), this.#upkeep.stop()]);
    await this.flush();
  }

  /** Keeps a sample where the last one is old enough, or said something else of its quality. Texts have no samples. */
  add(
    { tenant, id: device }: Pick<Device, 'tenant' | 'id'>,
    { type, name }: Variable,
    reading: Pick<Reading, 'value' | 'quality'>,
  ): void {
    if (type === 'text') return;
    const { now, sampleMs } = this.#options;
    const ofDevice = this.#last.get(device) ?? new Map();
    const last = ofDevice.get(name);
    const at = now();
    const { quality } = reading;
    if (last !== undefined && last.quality === quality && at - last.at < sampleMs) return;
    this.#last.set(device, ofDevice.set(name, { at, quality }));
    const value = quality === 'good' || quality === 'stale' ? Number(reading.value) : null;
    this.#gathered.push({ tenant, device, variable: name, at, value, quality });
    if (this.#gathered.length > MOST_GATHERED) this.#gathered.shift();
  }

  forget(device: string): void {
    this.#last.delete(device);
    this.#gathered = this.#gathered.filter((row) => row.device !== device);
  }

  /** Samples that the database did not take stay for the next time. */
  async flush(): Promise<void> {
    while (this.#gathered.length > 0) {
      const rows = this.#gathered.slice(0, ROWS_AT_ONCE);
      await this.#options.storage.writeUnit(everyDevice(), (db) => [
        db
          .insertInto('iot_samples')
          .values(rows)
          .onConflict((conflict) => conflict.doNothing()),
      ]);
      const written = new Set(rows);
      this.#gathered = this.#gathered.filter((row) => !written.has(row));
    }
  }

  async keepUp(): Promise<void> {
    const { storage, now, keepSamplesMs, keepHoursMs } = this.#options;
    await this.#sumUp();
    const samplesBefore = now() - keepSamplesMs;
    await deleteInBatches(storage, (db, limit) =>
      db
        .deleteFrom('iot_samples')
        .where(
          sql<boolean>`(tenant, device, variable, at) in (select tenant, device, variable, at from iot_samples where at < ${samplesBefore} limit ${limit})`,
        ),
    );
    const hoursBefore = now() - keepHoursMs;
    await deleteInBatches(storage, (db, limit) =>
      db
        .deleteFrom('iot_hours')
        .where(
          sql<boolean>`(tenant, device, variable, hour) in (select tenant, device, variable, hour from iot_hours where hour < ${hoursBefore} limit ${limit})`,
        ),
    );
  }

  /** Oldest first. */
  samples(scope: TenantScope, query: HistoryQuery): Promise<SampleRow[]> {
    return this.#read<SampleRow>(scope, 'iot_samples', 'at', query);
  }

  /** Oldest first. */
  hours(scope: TenantScope, query: HistoryQuery): Promise<HourRow[]> {
    return this.#read<HourRow>(scope, 'iot_hours', 'hour', query);
  }

  async lastSample(scope: TenantScope, device: string, variable: string): Promise<SampleRow | undefined> {
    return await this.#options.storage.read(scope, (db) =>
      db
        .selectFrom('iot_samples')
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('device', '=', device)
        .where('variable', '=', variable)
        .orderBy('at', 'desc')
        .limit(1)
        .executeTakeFirst(),
    );
  }

  async #read<Row>(
    scope: TenantScope,
    table: 'iot_samples' | 'iot_hours',
    time: 'at' | 'hour',
    { device, variable, from, to, limit }: HistoryQuery,
  ): Promise<Row[]> {
    const rows = await this.#options.storage.read(scope, (db) =>
      db
        .selectFrom(table)
        .selectAll()
        .where('tenant', '=', scope.tenant)
        .where('device', '=', device)
        .where('variable', '=', variable)
        .where(sql.ref(time), '>=', from)
        .where(sql.ref(time), '<', to)
        .orderBy(sql.ref(time))
        .limit(limit)
        .execute(),
    );
    return rows as Row[];
  }

  /** The hours that are over and have no means yet. Every node may do it: the first one's means stay. */
  async #sumUp(): Promise<void> {
    const { storage, now } = this.#options;
    const until = hourOf(now() - SETTLED_MS);
    const everyone = everyDevice();
    const [done, first] = await storage.read(everyone, async (db) => [
      await db
        .selectFrom('iot_hours')
        .select((eb) => eb.fn.max('hour').as('at'))
        .executeTakeFirst(),
      await db
        .selectFrom('iot_samples')
        .select((eb) => eb.fn.min('at').as('at'))
        .executeTakeFirst(),
    ]);
    const from = done?.at == null ? hourOf(Number(first?.at ?? until)) : Number(done.at) + HOUR_MS;
    for (let hour = from; hour < until; hour += HOUR_MS) {
      await storage.writeUnit(everyone, (db) => [
        db
          .insertInto('iot_hours')
          .columns(['tenant', 'device', 'variable', 'hour', 'n', 'mean', 'least', 'most'])
          .expression((eb) =>
            eb
              .selectFrom('iot_samples')
              .select(({ fn, val }) => [
                'tenant',
                'device',
                'variable',
                sql<number>`cast(${val(hour)} as bigint)`.as('hour'),
                fn.countAll<number>().as('n'),
                fn.avg<number>('value').as('mean'),
                sql<number>`min(value)`.as('least'),
                sql<number>`max(value)`.as('most'),
              ])
              .where('quality', '=', 'good')
              .where('value', 'is not', null)
              .where('at', '>=', hour)
              .where('at', '<', hour + HOUR_MS)
              .groupBy(['tenant', 'device', 'variable']),
          )
          .onConflict((conflict) => conflict.doNothing()),
      ]);
    }
  }
}

function hourOf(time: number): number {
  return time - (time % HOUR_MS);
}
