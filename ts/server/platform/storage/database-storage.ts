/** The Storage of either database: Kysely and migrations on top of an Engine. */
import { bindKysely } from './bound-kysely.ts';
import { refuseUnfinishedCopy } from './copy/copy-state.ts';
import { writeSnapshot } from './copy/write-snapshot.ts';
import type { Engine } from './engine.ts';
import type { MigrationPlan } from './migrations/migration-plan.ts';
import { migrate, planMigrations } from './migrations/migration-runner.ts';
import type { NotificationHandlers, NotificationListener } from './notifications.ts';
import { SqliteEngine } from './sqlite/sqlite-engine.ts';
import { toStatement } from './statement.ts';
import type { Storage, StorageAccess } from './storage.ts';
import type { StorageError } from './storage-error.ts';
import type { ResolvedStorageOptions } from './storage-options.ts';

export class DatabaseStorage implements Storage {
  readonly engine: Engine;
  readonly #options: ResolvedStorageOptions;
  #isOpen = false;

  constructor(engine: Engine, options: ResolvedStorageOptions) {
    this.engine = engine;
    this.#options = options;
  }

  get dialect(): Engine['dialect'] {
    return this.engine.dialect;
  }

  get file(): string | undefined {
    return this.engine instanceof SqliteEngine ? this.engine.file : undefined;
  }

  async open(): Promise<void> {
    await this.engine.connect();
    try {
      await refuseUnfinishedCopy(this.engine);
      await migrate(this.engine, this.#options.modules);
    } catch (error) {
      await this.engine.close();
      throw error;
    }
    this.#isOpen = true;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.engine.close();
  }

  async planMigrations(): Promise<MigrationPlan> {
    if (this.#isOpen || !(await this.engine.exists())) return await planMigrations(this.engine, this.#options.modules);
    await this.engine.connect();
    try {
      return await planMigrations(this.engine, this.#options.modules);
    } finally {
      await this.engine.close();
    }
  }

  async admit(file: string): Promise<void> {
    const { spareThreads: _, ...options } = { ...this.#options, observer: {} };
    await new DatabaseStorage(new SqliteEngine(file, options), options).planMigrations();
  }

  async snapshot(path: string, signal?: AbortSignal): Promise<void> {
    await writeSnapshot(this.engine, path, this.#options.modules, signal);
  }

  findDamage(): Promise<StorageError | undefined> {
    return this.engine.findDamage();
  }

  listen(channel: string, handlers: NotificationHandlers): NotificationListener | undefined {
    return this.engine.listen(channel, handlers);
  }

  ioError(): StorageError | undefined {
    return this.engine.ioError();
  }

  notReady(): string | undefined {
    return this.engine.notReady();
  }

  access<Tables>(): StorageAccess<Tables> {
    const { engine } = this;
    const { observer } = this.#options;
    const builder = bindKysely<Tables>(engine.dialect, buildOnly);
    return {
      dialect: engine.dialect,
      read: (scope, run) =>
        timed(
          () => engine.read(scope, async (execute) => await run(bindKysely<Tables>(engine.dialect, execute))),
          (durationMs) => observer.onRead?.({ durationMs }),
        ),
      write: (scope, run) =>
        timed(
          () => engine.write(scope, async (execute) => await run(bindKysely<Tables>(engine.dialect, execute))),
          (durationMs, failed) => observer.onWrite?.({ durationMs, failed }),
        ),
      writeUnit: (scope, build) =>
        timed(
          () =>
            engine.writeUnit(
              scope,
              build(builder).map((query) => toStatement(query.compile())),
            ),
          (durationMs, failed) => observer.onWrite?.({ durationMs, failed }),
        ),
    };
  }
}

async function buildOnly(): Promise<never> {
  throw new Error('writeUnit() takes queries that were built, not executed: leave out .execute()');
}

async function timed<T>(run: () => Promise<T>, report: (durationMs: number, failed: boolean) => void): Promise<T> {
  const startedAt = performance.now();
  let failed = true;
  try {
    const value = await run();
    failed = false;
    return value;
  } finally {
    report(performance.now() - startedAt, failed);
  }
}
