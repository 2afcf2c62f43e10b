import { Refusal } from '../client/refusal.ts';
import { type BackupErrorCode, backupErrors } from '../server/domains/backup/index.ts';
import { LibraryError, type LibraryErrorCode } from '../server/domains/inference/library/index.ts';
import { StartError } from '../server/platform/module/start-error.ts';
import { StorageError, type StorageErrorCode } from '../server/platform/storage/index.ts';
import { CliError, refusedError } from './cli-error.ts';
import type { ExitName } from './exit-codes.ts';

const exitOfLibrary: Record<LibraryErrorCode, ExitName> = {
  invalid_name: 'usage',
  not_found: 'not_found',
  exists: 'conflict',
  in_use: 'conflict',
  read_only: 'failed',
  not_a_model: 'verification_failed',
  verification_failed: 'verification_failed',
  no_space: 'no_space',
  unreachable: 'unreachable',
  refused_by_server: 'failed',
  permission_needed: 'failed',
  unsafe_address: 'failed',
};

const exitOfStorage: Partial<Record<StorageErrorCode, ExitName>> = {
  invalid_url: 'usage',
  data_dir_locked: 'conflict',
  copy_refused: 'conflict',
  copy_differs: 'verification_failed',
  database_damaged: 'verification_failed',
};

const exitOfStart: Readonly<Record<string, ExitName>> = {
  database_damaged: 'verification_failed',
  primary_replaced: 'restart',
};

const exitOfBackup: Record<BackupErrorCode, ExitName> = {
  backup_not_found: 'not_found',
  invalid_destination: 'usage',
  credentials_needed: 'usage',
  passphrase_needed: 'usage',
  wrong_passphrase: 'usage',
  backup_damaged: 'verification_failed',
  restore_by_command: 'conflict',
  restart_pending: 'conflict',
  destination_unusable: 'failed',
};

/** What any thrown value means at the command line. */
export function asCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof Refusal) return refusedError(error);
  if (error instanceof LibraryError)
    return new CliError(exitOfLibrary[error.code], error.code, error.message, error.remedy, error);
  if (error instanceof StorageError)
    return new CliError(exitOfStorage[error.code] ?? 'failed', error.code, error.message, error.remedy, error);
  if (backupErrors.has(error))
    return new CliError(exitOfBackup[error.code], error.code, error.sentence, error.remedy ?? '', error);
  if (error instanceof StartError)
    return new CliError(exitOfStart[error.code] ?? 'failed', error.code, error.message, error.remedy, error);
  if (error instanceof Error && error.name === 'AbortError') {
    return new CliError('interrupted', 'interrupted', 'stopped', 'run the same command again to continue', error);
  }
  const message = error instanceof Error ? error.message : String(error);
  const { code } = error as { code?: unknown };
  if (code === 'EACCES' || code === 'EPERM')
    return new CliError('failed', 'permission', message, 'run it as the user that owns these files', error);
  if (code === 'ENOSPC') return new CliError('no_space', 'no_space', message, 'free some disk space', error);
  return new CliError('failed', 'failed', message, 'run `svc doctor`, which checks this machine and the configuration', error);
}
