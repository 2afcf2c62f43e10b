/** Backups of this node: made and verified as durable jobs, and by a schedule. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import type { DomainError } from '../../platform/errors/domain-error.ts';
import { ANONYMOUS, scopeOf } from '../../platform/http/principal.ts';
import { type Job, JobFailedError, type JobProgress, type JobQueue, type Jobs } from '../../platform/jobs/index.ts';
import type { Log } from '../../platform/log/log.ts';
import type { HealthReport } from '../../platform/module/module.ts';
import type { Node } from '../../platform/node/node.ts';
import { Repeater } from '../../platform/repeater.ts';
import type { Storage, TenantScope } from '../../platform/storage/index.ts';
import { BackupHealth } from './backup-health.ts';
import { readDestination, writeDestination } from './destination.ts';
import { parseLocation } from './destinations/location.ts';
import { backupError, backupErrors } from './errors.ts';
import { openFiles } from './open-files.ts';
import { dropDamagedChunks } from './repository/drop-damaged-chunks.ts';
import type { Manifest, ManifestHead } from './repository/manifest.ts';
import { ManifestStore } from './repository/manifest-store.ts';
import { prune } from './repository/prune.ts';
import { findRepositoryFile, openRepository, openRepositoryForWriting, type Repository } from './repository/repository.ts';
import { readChoices, type Schedule, writeChoices } from './saved-choices.ts';
import type { BackupAccess } from './settings.ts';
import { clearScratch, createBackup } from './snapshot/create-backup.ts';
import type { ExtractOptions } from './snapshot/extract-backup.ts';
import { decideRestore } from './snapshot/restore-backup.ts';
import { proveBackup, verifyBackup } from './snapshot/verify-backup.ts';

const HOUR_MS = 3_600_000;
const LOOK_MS = 60_000;
/** After a scheduled backup was asked for, whatever became of it. */
const PAUSE_MS = 10 * 60_000;

export interface BackupServiceParts {
  readonly node: Node;
  readonly storage: Storage;
  readonly jobs: Jobs;
  readonly log: Log;
  /** What opens backup folders; which one is chosen while the node runs. */
  readonly access: Omit<BackupAccess, 'folder' | 'isTrusted'>;
  /** Of the settings: the folder or address. */
  readonly configuredFolder: string;
  /** Of the settings. */
  readonly scheduleHours: number;
  readonly keep: number;
  /** Of the settings: each new backup is proved before older ones are deleted. */
  readonly isVerifying: boolean;
}

export class BackupService {
  readonly #parts: BackupServiceParts;
  readonly #creations: JobQueue<Record<string, never>>;
  readonly #verifications: JobQueue<{ backup: string }>;
  readonly #restorations: JobQueue<{ backup: string }>;
  readonly #schedule: Repeater;
  readonly #health = new BackupHealth();
  #notBefore = 0;
  /** From the moment on when the next start will have the state of a backup. */
  #isRestored = false;

  constructor(parts: BackupServiceParts) {
    this.#parts = parts;
    const { jobs, log } = parts;
    this.#creations = jobs.define({
      name: 'backup.create',
      input: Type.Object({}, { additionalProperties: false }),
      concurrency: 1,
      run: ({ progress, signal }) => failingForGood(() => this.#createWatched(progress, signal)),
    });
    this.#verifications = jobs.define({
      name: 'backup.verify',
      input: Type.Object({ backup: Type.String({ maxLength: 60 }) }),
      concurrency: 1,
      run: ({ input, progress, signal }) => failingForGood(() => this.#verify(input.backup, progress, signal)),
    });
    this.#restorations = jobs.define({
      name: 'backup.restore',
      input: Type.Object({ backup: Type.String({ maxLength: 60 }) }),
      concurrency: 1,
      maxAttempts: 1,
      run: async ({ input, beginStep, progress, signal }) => {
        // What was asked for before a restart is not done by surprise after it.
        await beginStep('restore');
        return await failingForGood(() => this.#restore(input.backup, progress, signal));
      },
    });
    const onError = (error: unknown): void =>
      log.warn('the schedule of backups could not be looked at', { error: String(error) });
    this.#schedule = new Repeater({ intervalMs: LOOK_MS, run: () => this.#lookAtSchedule(), onError });
  }

  async start(): Promise<void> {
    await clearScratch(this.#parts.node.dataDir);
    this.#creations.start();
    this.#verifications.start();
    this.#restorations.start();
    this.#schedule.start();
  }

  health(): HealthReport {
    return this.#health.report(Date.now());
  }

  async stop(): Promise<void> {
    await this.#schedule.stop();
    await Promise.all([this.#creations.stop(), this.#verifications.stop(), this.#restorations.stop()]);
  }

  /** Newest first. What cannot be read is left out, and logged. */
  async list(): Promise<ManifestHead[]> {
    return await listBackups(await this.#access(), (id, error) =>
      this.#parts.log.warn('a backup cannot be read', { backup: id, error: String(error) }),
    );
  }

  /** Throws DomainError. */
  async get(id: string): Promise<Manifest> {
    return await using(await openRepository(await this.#access()), ({ manifests, sealing }) => manifests.get(id, sealing));
  }

  /** A backup that is being made already is not begun again. Throws DomainError where it could not be written. */
  async create(scope: TenantScope, owner?: string): Promise<Job> {
    await using(await openRepositoryForWriting(await this.#access()), async () => undefined);
    return await this.#creations.enqueue(scope, {}, { key: 'create', ...(owner !== undefined && { owner }) });
  }

  /** Throws `backup_not_found`. */
  async verify(scope: TenantScope, id: string, owner?: string): Promise<Job> {
    await this.get(id);
    return await this.#verifications.enqueue(scope, { backup: id }, { key: id, ...(owner !== undefined && { owner }) });
  }

  /**
   * Puts a backup into the place of this node's state: the node ends once that is decided, and its next start has it. `latest` is the newest one.
   * Throws DomainError, `restore_by_command` where another process has to do it.
   */
  async restore(scope: TenantScope, named: string, owner?: string): Promise<{ job: Job; backup: string }> {
    const { storage, node } = this.#parts;
    if (this.#isRestored) throw restartPending();
    if (storage.file !== join(node.dataDir, 'svc.db')) throw restoreByCommand(named);
    const backup = named === 'latest' ? ((await this.list())[0]?.id ?? named) : named;
    await this.get(backup);
    const job = await this.#restorations.enqueue(scope, { backup }, { key: 'restore', ...(owner !== undefined && { owner }) });
    return { job, backup };
  }

  /** `encrypted` is undefined where there are no backups yet. Throws DomainError. */
  async destination(): Promise<{ folder: string; kind: 'folder' | 's3' | 'sftp'; encrypted: boolean | undefined }> {
    const { folder, remote, isTrusted } = await this.#access();
    const files = openFiles(folder, remote, isTrusted);
    try {
      const file = await findRepositoryFile(files);
      return { folder, kind: parseLocation(folder).kind, encrypted: file && file.encryption !== null };
    } finally {
      await files.close();
    }
  }

  /** An absolute path, or the address of a bucket or an SFTP server. Throws DomainError. */
  async setDestination(folder: string): Promise<void> {
    const { node, access, configuredFolder } = this.#parts;
    await writeDestination(node.dataDir, folder, configuredFolder, access.remote);
  }

  /** `isChosen`: it goes before that of the settings. `nextAt`: Unix milliseconds; undefined where none is made by itself. */
  async schedule(): Promise<Schedule & { isChosen: boolean; nextAt: number | undefined }> {
    const { hours, keep, isChosen, nextAt } = await this.#plan();
    return { hours, keep, isChosen, nextAt };
  }

  /** Undefined: that of the settings holds again. */
  async setSchedule(schedule: Schedule | undefined): Promise<void> {
    await writeChoices(this.#parts.node.dataDir, { schedule });
    this.#notBefore = 0;
    this.#schedule.wake();
  }

  async #createWatched(onProgress: (progress: JobProgress) => void, signal: AbortSignal): Promise<object> {
    try {
      const result = await this.#create(onProgress, signal);
      this.#health.made();
      return result;
    } catch (error) {
      if (!signal.aborted) this.#health.failed(backupErrors.has(error) ? error.code : undefined);
      throw error;
    }
  }

  async #create(onProgress: (progress: JobProgress) => void, signal: AbortSignal): Promise<object> {
    const { node, storage, log, isVerifying } = this.#parts;
    const { keep } = await this.schedule();
    return await using(await openRepositoryForWriting(await this.#access()), async (repository) => {
      const prove = (manifest: Manifest) => this.#prove(repository, manifest, { onProgress, signal });
      const head = await createBackup({ node, storage }, repository, { onProgress, signal, ...(isVerifying && { prove }) });
      const { id, size_bytes, stored_bytes } = head;
      const deleted = await prune(repository, keep);
      log.info('backup made', { backup: id, stored_bytes, verified: isVerifying, deleted_backups: deleted.backups });
      return { id, size_bytes, stored_bytes, verified: isVerifying, deleted_backups: deleted.backups };
    });
  }

  /** Content that did not change is not written again: where what lies there is damaged, it is taken away, and the next backup writes it. */
  async #prove(repository: Repository, manifest: Manifest, options: ExtractOptions): Promise<void> {
    try {
      const { stateFiles } = this.#parts.node;
      this.#tellMissing(manifest.id, await proveBackup(repository, manifest, await this.#scratch(), { ...options, stateFiles }));
    } catch (error) {
      if (!backupErrors.has(error) || error.code !== 'backup_damaged') throw error;
      const dropped = await dropDamagedChunks(repository, manifest);
      this.#parts.log.error('a new backup cannot be restored, so it was given up', {
        error: error.message,
        dropped_chunks: dropped,
      });
      if (dropped === 0) throw error;
      const remedy = `What was damaged in the destination is deleted (${dropped} chunks): make a backup again, which writes it anew. See whether that disk works.`;
      throw backupError('backup_damaged', error.sentence, remedy, error);
    }
  }

  async #verify(id: string, onProgress: (progress: JobProgress) => void, signal: AbortSignal): Promise<object> {
    return await using(await openRepository(await this.#access()), async (repository) => {
      const { stateFiles } = this.#parts.node;
      const options = { onProgress, signal, stateFiles };
      const { files, tables, missing } = await verifyBackup(repository, id, await this.#scratch(), options);
      this.#tellMissing(id, missing);
      return { id, files: files.length, tables: Object.keys(tables).length, missing_files: missing.length };
    });
  }

  /** They were lost before the backup was made: it is as good as the node, and every other one would lack them too. */
  #tellMissing(backup: string, missing: readonly string[]): void {
    if (missing.length === 0) return;
    const [example] = missing;
    this.#parts.log.warn('a backup lacks files that rows of its database name', { backup, files: missing.length, example });
  }

  async #restore(id: string, onProgress: (progress: JobProgress) => void, signal: AbortSignal): Promise<object> {
    const { node, storage, log } = this.#parts;
    if (this.#isRestored) throw restartPending();
    return await using(await openRepository(await this.#access()), async (repository) => {
      const admitDatabase = (file: string) => storage.admit(file);
      const target = { dataDir: node.dataDir, stateFiles: node.stateFiles, admitDatabase };
      await decideRestore(repository, id, target, { onProgress, signal });
      this.#isRestored = true;
      log.warn('a backup takes the place of the state of this node when it starts again', { backup: id });
      node.restart(`the backup ${id} is restored`);
      return { id };
    });
  }

  async #scratch(): Promise<string> {
    const folder = join(this.#parts.node.dataDir, 'cache', 'backup');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  async #lookAtSchedule(): Promise<void> {
    const { nextAt, dueAt } = await this.#plan();
    const now = Date.now();
    this.#health.scheduled(dueAt, now);
    if (nextAt === undefined || now < nextAt) return;
    this.#notBefore = now + PAUSE_MS;
    await this.create(scopeOf(ANONYMOUS), 'schedule');
  }

  /** `dueAt`: by the age of the newest backup alone. */
  async #plan(): Promise<Schedule & { isChosen: boolean; nextAt: number | undefined; dueAt: number | undefined }> {
    const { schedule } = await readChoices(this.#parts.node.dataDir);
    const { hours, keep } = schedule ?? { hours: this.#parts.scheduleHours, keep: this.#parts.keep };
    const common = { hours, keep, isChosen: schedule !== undefined };
    if (hours === 0) return { ...common, nextAt: undefined, dueAt: undefined };
    const [newest] = await this.list();
    const dueAt = newest === undefined ? Date.now() : Date.parse(newest.created_at) + hours * HOUR_MS;
    return { ...common, nextAt: Math.max(dueAt, this.#notBefore), dueAt };
  }

  async #access(): Promise<BackupAccess> {
    const { access, node, configuredFolder } = this.#parts;
    return { ...access, ...(await readDestination(node.dataDir, configuredFolder)) };
  }
}

async function using<T>(repository: Repository, work: (repository: Repository) => Promise<T>): Promise<T> {
  try {
    return await work(repository);
  } finally {
    await repository.files.close();
  }
}

/** Newest first; `onDamaged` hears of those that cannot be read. Needs no passphrase. */
export async function listBackups(
  { folder, remote, isTrusted }: BackupAccess,
  onDamaged: (id: string, error: unknown) => void,
): Promise<ManifestHead[]> {
  const files = openFiles(folder, remote, isTrusted);
  try {
    const manifests = new ManifestStore(files);
    const heads: ManifestHead[] = [];
    for (const id of (await manifests.listIds()).reverse()) {
      const head = await manifests.getHead(id).catch((error: unknown) => onDamaged(id, error));
      if (head !== undefined) heads.push(head);
    }
    return heads;
  } finally {
    await files.close();
  }
}

/** Another attempt finds the same passphrase, the same damage; a folder that does not work now may work later. */
async function failingForGood<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!backupErrors.has(error) || error.code === 'destination_unusable') throw error;
    throw new JobFailedError(error.code, error.sentence, error.remedy ?? '', error);
  }
}

function restartPending(): DomainError {
  return backupError('restart_pending', 'A restore was decided already.', 'Wait until the node has started again.');
}

function restoreByCommand(backup: string): DomainError {
  return backupError(
    'restore_by_command',
    'The database of this node is not in its data folder, and no other process may work on it meanwhile.',
    `Stop the node, and run \`svc backup restore ${backup} --force\`; the database has to be empty.`,
  );
}
