import { databaseOptions } from '../../server/database.ts';
import { modules } from '../../server/modules.ts';
import {
  type CopiedTable,
  type CopyProgress,
  copyDatabase,
  createStorage,
  DataDirLock,
  type MigrationPlan,
  type StorageOptions,
} from '../../server/platform/storage/index.ts';
import { usageError } from '../cli-error.ts';
import { command, type Invocation } from '../command.ts';
import { readConfig } from '../configuration.ts';
import type { ExitName } from '../exit-codes.ts';
import { formatTable } from '../format.ts';

export const migrate = command({
  words: ['migrate'],
  summary: 'Bring the database to this version, or move it to another one',
  options: {
    'dry-run': { kind: 'flag', help: 'only say what would be migrated' },
    to: { kind: 'text', value: 'URL', help: 'copy everything to postgres://... or sqlite:/FILE, which has to be empty' },
  },
  examples: ['svc migrate --dry-run', 'svc migrate', 'svc migrate --to "postgres:///svc?host=/run/postgresql"'],
  async run(invocation) {
    const { options } = invocation;
    if (options['dry-run'] && options.to !== undefined)
      throw usageError('--dry-run does not go with --to', 'leave one of them out');
    const { values } = readConfig(invocation);
    const database = databaseOptions(values, modules);
    if (options['dry-run']) return await showPlan(invocation, database);
    const lock = await DataDirLock.acquire(values.data_dir, 'svc migrate');
    try {
      return options.to === undefined ? await migrateNow(invocation, database) : await moveTo(invocation, database, options.to);
    } finally {
      lock.release();
    }
  },
});

async function showPlan({ terminal }: Invocation, database: StorageOptions): Promise<ExitName> {
  const plan = await createStorage(database).planMigrations();
  terminal.result(plan, describePlan(plan));
  return 'ok';
}

async function migrateNow({ terminal }: Invocation, database: StorageOptions): Promise<ExitName> {
  const storage = createStorage(database);
  const plan = await storage.planMigrations();
  await storage.open();
  await storage.close();
  terminal.result(plan, plan.pending.length === 0 ? describePlan(plan) : `Applied:\n${describePlan(plan)}`);
  return 'ok';
}

function describePlan({ pending, backupPath }: MigrationPlan): string {
  if (pending.length === 0) return 'The database is up to date.';
  const table = formatTable(
    ['MODULE', 'ID', 'MIGRATION'],
    pending.map(({ module, id, name }) => [module, String(id), name]),
  );
  return backupPath === undefined ? table : `${table}\nBackup before the first: ${backupPath}`;
}

async function moveTo({ terminal, signal }: Invocation, from: StorageOptions, url: string): Promise<ExitName> {
  const said = new Set<string>();
  const onProgress = ({ phase, table, tablesDone, tables }: CopyProgress) => {
    const line = `${phase === 'copy' ? 'copying' : 'comparing'} ${table} (${tablesDone + 1} of ${tables})`;
    if (!said.has(line)) terminal.note(line);
    said.add(line);
  };
  const copied = await copyDatabase(from, { ...from, url }, { onProgress, signal });
  terminal.result(copied, describeCopy(copied));
  terminal.note(
    'Everything is there. Set database.url to the new database and start the server; keep the old one until you are content.',
  );
  return 'ok';
}

function describeCopy(copied: readonly CopiedTable[]): string {
  return formatTable(
    ['TABLE', 'ROWS', 'SHA-256'],
    copied.map(({ name, rows, sha256 }) => [name, String(rows), sha256]),
  );
}
