import { lstat, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LOCAL_TOKEN_FILE } from '../../server/domains/identity/index.ts';
import { modules } from '../../server/modules.ts';
import { DataDirLock } from '../../server/platform/storage/index.ts';
import type { NodeConfig } from '../../server/settings.ts';
import { stateFilesOf } from '../../server/state-files.ts';
import { command, type Invocation } from '../command.ts';
import { readConfig } from '../configuration.ts';
import { printable } from '../format.ts';

/** What svc makes in data_dir; anything else there belongs to somebody else and stays. */
const MADE =
  /^(?:svc\.db(?:-wal|-shm|-journal|\.pre-[\w-]+\.bak)?|lock\.(?:json|sqlite)(?:\.part|-journal|-wal|-shm)?|models|cache|cluster|uploads|tls|restored-config|backup-keys|\.restore|inspected-models\.json)$/;

const options = {
  yes: { kind: 'flag', help: 'delete; without it the command only says what would be deleted' },
  backups: { kind: 'flag', help: 'the backups inside data_dir too' },
} as const;

export const purge = command({
  words: ['purge'],
  summary: 'Delete all data of a stopped node: what removing the package leaves',
  options,
  examples: ['svc purge', 'svc purge --yes'],
  async run(invocation) {
    const config = readConfig(invocation);
    const folder = config.values.data_dir;
    const { ours, others } = await sort(invocation, config);
    if (invocation.options.yes !== true) {
      const text = [`These would be deleted from ${folder}; give --yes to do it:`, ...ours.map((name) => `  ${printable(name)}`)];
      invocation.terminal.result({ data_dir: folder, deleted: [], would_delete: ours, kept: others }, text.join('\n'));
      return 'ok';
    }
    if (ours.length > 0) await deleteAll(folder, ours);
    tellWhatStays(invocation, config, others);
    invocation.terminal.result(
      { data_dir: folder, deleted: ours, kept: others },
      `${ours.length} files and folders of ${folder} are deleted.`,
    );
    return 'ok';
  },
});

async function sort(
  invocation: Invocation<typeof options>,
  { values }: NodeConfig,
): Promise<{ ours: string[]; others: string[] }> {
  const names = (await readdir(values.data_dir).catch(noneIfAbsent)).sort();
  const kept = new Set([...stateFilesOf(modules).map(({ name }) => name), LOCAL_TOKEN_FILE]);
  if (invocation.options.backups === true) kept.add('backups');
  const isOurs = (name: string): boolean => MADE.test(name) || kept.has(name);
  return { ours: names.filter(isOurs), others: names.filter((name) => !isOurs(name)) };
}

/** No node starts meanwhile, since the lock goes last. A link is deleted, and not what it leads to. */
async function deleteAll(folder: string, names: readonly string[]): Promise<void> {
  const lock = await DataDirLock.acquire(folder, 'svc purge');
  try {
    for (const name of names.filter((each) => !each.startsWith('lock.'))) {
      const path = join(folder, name);
      const isFolder = (await lstat(path).catch(() => undefined))?.isDirectory() === true;
      await rm(path, { force: true, recursive: isFolder });
    }
  } finally {
    lock.release();
  }
  for (const name of await readdir(folder)) if (name.startsWith('lock.')) await rm(join(folder, name), { force: true });
  await rmdir(folder).catch(() => undefined);
}

function tellWhatStays({ terminal }: Invocation, { values }: NodeConfig, others: readonly string[]): void {
  if (others.length > 0) terminal.note(`Not touched in ${values.data_dir}: ${others.map(printable).join(', ')}.`);
  if (values['database.url'] !== '') terminal.note('The PostgreSQL database of database.url is not touched; drop it there.');
  terminal.note('The configuration and backups elsewhere are not touched either.');
}

function noneIfAbsent(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
