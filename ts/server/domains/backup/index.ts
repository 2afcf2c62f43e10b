/**
 * The backup module: consistent backups of the whole node while it serves, into a folder, a bucket or an SFTP server, where equal content lies once. What belongs to a
 * backup is data: the database, each module's `stateFiles`, and the files of the configuration.
 */
import { defineModule } from '../../platform/module/module.ts';
import { accessOf, backupSettings, configuredFolder } from './settings.ts';
import type { ReplicationSource } from './snapshot/replication.ts';

export { type BackupErrorCode, backupErrors } from './errors.ts';
export { accessOf, type BackupAccess, backupSettings, configuredFolder } from './settings.ts';

/** What `svc backup` does without a server; loaded when it is needed. */
export async function loadOfflineBackups() {
  const [{ readDestination }, { openRepository }, { listBackups }, { verifyBackup }, restore, schemas] = await Promise.all([
    import('./destination.ts'),
    import('./repository/repository.ts'),
    import('./service.ts'),
    import('./snapshot/verify-backup.ts'),
    import('./snapshot/restore-backup.ts'),
    import('./schemas.ts'),
  ]);
  return { readDestination, openRepository, listBackups, verifyBackup, ...restore, ...schemas };
}

/** Backups as the module cluster uses them for standbys; `source` is undefined for whoever only takes a place. */
export async function openReplication(source: ReplicationSource) {
  const { Replication } = await import('./snapshot/replication.ts');
  return new Replication(source);
}

export const backup = defineModule({
  name: 'backup',
  settings: backupSettings,
  stateFiles: [{ name: 'backup.json', kind: 'file' }],
  create: async ({ node, storage, jobs, log, settings }) => {
    const [{ BackupService }, { backupRoutes }] = await Promise.all([import('./service.ts'), import('./routes.ts')]);
    const service = new BackupService({
      node,
      storage,
      jobs,
      log,
      access: accessOf(settings, node.dataDir),
      configuredFolder: configuredFolder(settings),
      scheduleHours: settings['backup.schedule'],
      keep: settings['backup.keep'],
      isVerifying: settings['backup.verify'],
    });
    return {
      api: service,
      routes: backupRoutes(service),
      start: () => service.start(),
      stop: () => service.stop(),
      health: () => service.health(),
      ready: () => undefined,
    };
  },
});
