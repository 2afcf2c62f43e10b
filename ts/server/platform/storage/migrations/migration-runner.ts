/** Brings a database to the schema that the program knows: forward only, under a lock; each migration of one that has data in a transaction of its own. */
import { bindKysely } from '../bound-kysely.ts';
import type { Engine } from '../engine.ts';
import type { ExecuteStatement } from '../statement.ts';
import { StorageError } from '../storage-error.ts';
import {
  type AppliedMigration,
  ensureMigrationTable,
  listApplied,
  type MigrationTables,
  selectApplied,
} from './applied-migrations.ts';
import type { Migration, ModuleMigrations } from './migration.ts';
import type { MigrationPlan, PendingMigration } from './migration-plan.ts';
import { MigrationSchema } from './migration-schema.ts';

type KnownMigration = PendingMigration & { readonly migration: Migration };

/** Throws a StorageError `schema_newer` for a database that a newer program has migrated, `invalid_migration` for a wrong list. */
export async function migrate(engine: Engine, modules: readonly ModuleMigrations[]): Promise<void> {
  const known = listKnown(modules);
  const applied = await listApplied(engine);
  const [first] = listPending(known, applied);
  await ensureMigrationTable(engine);
  if (!first) return;
  if (applied.length === 0) return await applyAll(engine, known);
  await engine.backup(backupLabel(listPending(known, applied), first));
  for (const migration of known) await applyOnce(engine, known, migration);
}

export async function planMigrations(engine: Engine, modules: readonly ModuleMigrations[]): Promise<MigrationPlan> {
  const applied = (await engine.exists()) ? await listApplied(engine) : [];
  const found = listPending(listKnown(modules), applied);
  const pending = found.map(({ module, id, name }) => ({ module, id, name }));
  const [first] = pending;
  return { pending, backupPath: first && applied.length > 0 ? engine.backupPath(backupLabel(found, first)) : undefined };
}

/** What is applied is read again under the lock: another process may have done the same meanwhile. */
async function applyOnce(engine: Engine, known: readonly KnownMigration[], next: KnownMigration): Promise<void> {
  await engine.exclusive(async (execute) => {
    const pending = listPending(known, await selectApplied(engine, execute));
    if (pending.includes(next)) await apply(engine, execute, [next]);
  });
}

/** A database that holds nothing yet gets its whole schema at once, so that the first start waits for the disk once. */
async function applyAll(engine: Engine, known: readonly KnownMigration[]): Promise<void> {
  await engine.exclusive(async (execute) => {
    const pending = listPending(known, await selectApplied(engine, execute));
    if (pending.length > 0) await apply(engine, execute, pending);
  });
}

async function apply(engine: Engine, execute: ExecuteStatement, migrations: readonly KnownMigration[]): Promise<void> {
  const schema = new MigrationSchema(engine.dialect, execute);
  try {
    for (const { migration } of migrations) await migration.up(schema);
  } finally {
    // Where an earlier change failed, that is what there is to tell.
    await schema.settled();
  }
  const rows = migrations.map(({ module, id, name }) => ({ module, id, name, applied_at: Date.now() }));
  await bindKysely<MigrationTables>(engine.dialect, execute).insertInto('svc_migrations').values(rows).execute();
}

/** The name of the one that says how its backup is called, else that of the first. */
function backupLabel(pending: readonly KnownMigration[], { module, id }: PendingMigration): string {
  const named = pending.find(({ migration: { backup } }) => backup !== undefined)?.migration.backup;
  return `pre-${named ?? `${module}-${id}`}`;
}

function listKnown(modules: readonly ModuleMigrations[]): KnownMigration[] {
  const names = modules.map(({ module }) => module);
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated !== undefined) throw invalid(`module ${repeated} is listed twice`);
  return modules.flatMap(({ module, migrations }) => {
    if (!/^[a-z][a-z0-9_-]*$/.test(module)) throw invalid(`${JSON.stringify(module)} is no name of a module`);
    return migrations.map((migration, i) => {
      if (migration.id !== i + 1) throw invalid(`migration ${i + 1} of module ${module} has the number ${migration.id}`);
      return { module, id: migration.id, name: migration.name, migration };
    });
  });
}

function listPending(known: readonly KnownMigration[], applied: readonly AppliedMigration[]): KnownMigration[] {
  const key = ({ module, id }: AppliedMigration) => `${module} ${id}`;
  const knownByKey = new Map(known.map((migration) => [key(migration), migration]));
  for (const one of applied) {
    const match = knownByKey.get(key(one));
    if (match?.name !== one.name) throw newer(one, match);
  }
  const done = new Set(applied.map(key));
  return known.filter((migration) => !done.has(key(migration)));
}

function newer({ module, id, name }: AppliedMigration, match: KnownMigration | undefined): StorageError {
  const what = match ? `which this program knows as "${match.name}"` : 'which this program does not know';
  return new StorageError('schema_newer', `The database has migration ${id} of module ${module} ("${name}"), ${what}.`, {
    remedy:
      'Start the version of svc that wrote this database or a newer one, or restore a backup (`.pre-...bak`) from before it.',
  });
}

function invalid(what: string): StorageError {
  return new StorageError('invalid_migration', `The list of migrations is wrong: ${what}.`, {
    remedy: 'Number each module’s migrations 1, 2, 3 ... and list each module once.',
  });
}
