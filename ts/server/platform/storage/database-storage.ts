/** The Storage of either database: Kysely and migrations on top of an Engine. */

import type { Log } from '../log/log.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { bindKysely } from './bound-kysely.ts';
import { refuseUnfinishedCopy } from './copy/copy-state.ts';
import { writeSnapshot } from './copy/write-snapshot.ts';
import type { Engine } from './engine.ts';
import type { MigrationTables } from './migrations/applied-migrations.ts';
import type { MigrationPlan } from './migrations/migration-plan.ts';
import { migrate, planMigrations } from './migrations/migration-runner.ts';
import type { NotificationHandlers, NotificationListener } from './notifications.ts';
import { SqliteEngine } from './sqlite/sqlite-engine.ts';
import { toStatement } from './statement.ts';
import type { Storage, StorageAccess } from './storage.ts';
import type { StorageError } from './storage-error.ts';
import type { ResolvedStorageOptions, StorageObserver } from './storage-options.ts';
import { systemScope } from './tenant-scope.ts';

const COMMITS = 'commits';

export class DatabaseStorage implements Storage {
  readonly engine: Engine;
  readonly #options: ResolvedStorageOptions;
  #isOpen = false;
  #fence: StorageError | undefined;

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

  async countCommits(): Promise<void> {
    await this.engine.write(systemScope(), async (execute) => {
      const db = bindKysely<MigrationTables>(this.engine.dialect, execute);
      const row = { key: COMMITS, value: '0' };
      await db
        .insertInto('svc_database')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    });
  }

  async commitNumber(): Promise<number> {
    return await this.engine.read(systemScope(), async (execute) => {
      const db = bindKysely<MigrationTables>(this.engine.dialect, execute);
      const row = await db.selectFrom('svc_database').select('value').where('key', '=', COMMITS).executeTakeFirst();
      return Number(row?.value ?? 0);
    });
  }

  fence(error: StorageError): void {
    this.#fence = error;
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
          async () => {
            if (this.#fence !== undefined) throw this.#fence;
            return await engine.write(scope, async (execute) => await run(bindKysely<Tables>(engine.dialect, execute)));
          },
          (durationMs, failed) => observer.onWrite?.({ durationMs, failed }),
        ),
      writeUnit: (scope, build) =>
        timed(
          async () => {
            if (this.#fence !== undefined) throw this.#fence;
            const statements = build(builder).map((query) => toStatement(query.compile()));
            return await engine.writeUnit(scope, statements);
          },
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

/** The database in /metrics and in the log. */
export function observeStorage(metrics: MetricsRegistry, log: Log): StorageObserver {
  const commits = metrics.histogram('svc_storage_commit_seconds', 'Time of a commit, from its first statement.').with();
  const written = metrics.counter('svc_storage_writes_total', 'Writes by outcome.', ['outcome']);
  const waits = metrics.histogram('svc_storage_operation_seconds', 'Reads and writes, their wait included.', ['kind']);
  const retries = metrics.counter('svc_storage_retries_total', 'Transactions that the database asked to repeat.').with();
  const failing = metrics.gauge('svc_storage_failing', '1 while the database takes no writes.').with();
  return {
    onCommit: ({ durationMs }) => commits.observe(durationMs / 1000),
    onRead: ({ durationMs }) => waits.with({ kind: 'read' }).observe(durationMs / 1000),
    onWrite: ({ durationMs, failed }) => {
      waits.with({ kind: 'write' }).observe(durationMs / 1000);
      written.with({ outcome: failed ? 'failed' : 'ok' }).add();
    },
    onRetry: () => retries.add(),
    onIoError: (error) => {
      failing.set(1);
      log.error('the database takes no writes', { error: error.message, remedy: error.remedy });
    },
    onRecovered: ({ durationMs }) => {
      failing.set(0);
      log.info('the database takes writes again', { after_ms: Math.round(durationMs) });
    },
  };
}
