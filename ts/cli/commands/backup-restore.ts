import { databaseOptions } from '../../server/database.ts';
import { loadOfflineBackups } from '../../server/domains/backup/index.ts';
import { modules } from '../../server/modules.ts';
import { copyDatabase, createStorage, DataDirLock } from '../../server/platform/storage/index.ts';
import type { NodeConfig } from '../../server/settings.ts';
import { stateFilesOf } from '../../server/state-files.ts';
import { accessOptions, backupAccess } from '../backup-access.ts';
import { CliError } from '../cli-error.ts';
import { command, type Invocation } from '../command.ts';
import { readConfig } from '../configuration.ts';

type Offline = Awaited<ReturnType<typeof loadOfflineBackups>>;

const options = {
  ...accessOptions,
  force: { kind: 'flag', help: 'replace the state that data_dir holds' },
} as const;

export const backupRestore = command({
  words: ['backup', 'restore'],
  summary: "Put a backup into the place of a stopped node's data",
  positionals: [{ name: 'BACKUP', help: 'id of the backup, or `latest`' }],
  options,
  examples: ['svc backup restore latest', 'svc backup restore 20261123T070000000Z-0a1b2c3d --from /mnt/backups/svc --force'],
  async run(invocation) {
    const config = readConfig(invocation);
    const lock = await DataDirLock.acquire(config.values.data_dir, 'svc backup restore');
    try {
      return await restore(invocation, config);
    } finally {
      lock.release();
    }
  },
});

async function restore(invocation: Invocation<typeof options>, config: NodeConfig): Promise<'ok'> {
  const { terminal, positionals, signal } = invocation;
  const dataDir = config.values.data_dir;
  const stateFiles = stateFilesOf(modules);
  const offline = await loadOfflineBackups();
  if (!invocation.options.force && (await offline.hasState(dataDir, stateFiles))) throw occupied(dataDir);
  const repository = await offline.openRepository(await backupAccess(invocation));
  const [named = ''] = positionals;
  const id = named === 'latest' ? await latestOf(repository) : named;
  const importDatabase = importerOf(config, signal);
  // A backup of a newer version would leave a node that does not start.
  const admitDatabase = async (file: string) =>
    void (await createStorage({ ...databaseOptions(config.values, modules), url: `sqlite:${file}` }).planMigrations());
  const target = { dataDir, stateFiles, admitDatabase, ...(importDatabase && { importDatabase }) };
  const {
    created_at: createdAt,
    files,
    version,
  } = await offline.restoreBackup(repository, id, target, { signal }).finally(() => repository.files.close());
  terminal.result({ restored: id, data_dir: dataDir, created_at: createdAt, version }, `${id} is restored into ${dataDir}.`);
  if (files.some(({ path }) => path.startsWith('config/')))
    terminal.note(`The configuration of that time is in ${dataDir}/${offline.CONFIG_FOLDER}; compare it with the current one.`);
  return 'ok';
}

/** `latest` itself, which is then not found, where there are no backups. */
async function latestOf({ manifests, files }: Awaited<ReturnType<Offline['openRepository']>>): Promise<string> {
  try {
    return (await manifests.listIds()).at(-1) ?? 'latest';
  } catch (error) {
    await files.close();
    throw error;
  }
}

/** A database of its own takes the rows; it has to be empty, or hold the unfinished part of this restore. */
function importerOf(config: NodeConfig, signal: AbortSignal) {
  if (config.values['database.url'] === '') return undefined;
  const to = databaseOptions(config.values, modules);
  return async (file: string, beforeUse: () => Promise<void>): Promise<void> => {
    await copyDatabase({ ...to, url: `sqlite:${file}` }, to, { signal, beforeUse });
  };
}

function occupied(dataDir: string): CliError {
  const remedy = 'name an empty one with data_dir (SVC_DATA_DIR), or give --force to replace what is there';
  return new CliError('conflict', 'data_dir_in_use', `${dataDir} holds the state of a node`, remedy);
}
