/** `svc backup list`, `show` and `verify`: they read the folder itself, so they work without a server and on another machine. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadOfflineBackups } from '../../server/domains/backup/index.ts';
import { modules } from '../../server/modules.ts';
import { stateFilesOf } from '../../server/state-files.ts';
import { accessOptions, backupAccess } from '../backup-access.ts';
import { CliError } from '../cli-error.ts';
import { command, type Invocation } from '../command.ts';
import { formatBytes, formatTable, printable } from '../format.ts';

const backupId = { name: 'BACKUP', help: 'id of the backup, as `svc backup list` shows it' };

export const backupList = command({
  words: ['backup', 'list'],
  summary: 'List backups, newest first',
  options: accessOptions,
  async run(invocation) {
    const { terminal } = invocation;
    const offline = await loadOfflineBackups();
    const access = await backupAccess(invocation);
    const heads = await offline.listBackups(access, (id, error) =>
      terminal.note(`${id} cannot be read: ${printable(String((error as Error).message))}`),
    );
    const rows = heads.map(offline.toBackup);
    const table = rows.map(({ id, version, encrypted, size_bytes, stored_bytes }) => {
      return [id, version, encrypted ? 'yes' : 'no', formatBytes(size_bytes), formatBytes(stored_bytes)].map(printable);
    });
    terminal.result(rows, formatTable(['BACKUP', 'VERSION', 'ENCRYPTED', 'SIZE', 'ADDED'], table));
    return 'ok';
  },
});

export const backupShow = command({
  words: ['backup', 'show'],
  summary: 'Show what a backup holds',
  positionals: [backupId],
  options: accessOptions,
  async run(invocation) {
    const { terminal, positionals } = invocation;
    const offline = await loadOfflineBackups();
    const repository = await offline.openRepository(await backupAccess(invocation));
    const manifest = await repository.manifests
      .get(positionals[0] ?? '', repository.sealing)
      .finally(() => repository.files.close());
    const details = offline.toDetails(manifest);
    const files = details.files.map(({ path, size_bytes, sha256 }) => [printable(path), formatBytes(size_bytes), sha256]);
    terminal.result(details, `${details.id}, ${details.database}\n${formatTable(['FILE', 'SIZE', 'SHA-256'], files)}`);
    return 'ok';
  },
});

export const backupVerify = command({
  words: ['backup', 'verify'],
  summary: 'Prove backups by restoring them into a scratch folder',
  positionals: [{ ...backupId, help: `${backupId.help} (all when left out)`, optional: true }],
  options: {
    ...accessOptions,
    scratch: { kind: 'text', value: 'FOLDER', help: 'where there is room for one backup (else the temporary folder)' },
  },
  async run(invocation) {
    const scratch = await mkdtemp(join(invocation.options.scratch ?? tmpdir(), 'svc-verify-'));
    try {
      return await verifyAll(invocation, scratch);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  },
});

async function verifyAll(invocation: Invocation<typeof accessOptions>, scratch: string): Promise<'ok'> {
  const { terminal, positionals, signal } = invocation;
  const offline = await loadOfflineBackups();
  const repository = await offline.openRepository(await backupAccess(invocation));
  const [named] = positionals;
  const stateFiles = stateFilesOf(modules);
  const missing: Record<string, readonly string[]> = {};
  try {
    const ids = named === undefined ? await repository.manifests.listIds() : [named];
    if (ids.length === 0)
      throw new CliError('not_found', 'backup_not_found', 'there are no backups', 'make one with `svc backup create`');
    for (const id of ids) {
      const { files, missing: lost } = await offline.verifyBackup(repository, id, scratch, { signal, stateFiles });
      terminal.note(`${id}: ${files.length} files, the database opens and has every row`);
      for (const path of lost) terminal.note(`${id}: the database names ${printable(path)}, which the node had lost already`);
      if (lost.length > 0) missing[id] = lost;
    }
    const lacking = Object.keys(missing).length;
    terminal.result(
      { verified: ids, missing },
      `${ids.length} verified${lacking > 0 ? `, ${lacking} of them without some files` : ''}`,
    );
    return 'ok';
  } finally {
    await repository.files.close();
  }
}
