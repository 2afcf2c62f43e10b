/** Every refusal of the module, with the status that its routes answer for it. */
import { type CodeOf, defineErrors } from '../../platform/errors/define-errors.ts';
import type { DomainError } from '../../platform/errors/domain-error.ts';

export const backupErrors = defineErrors('backup', {
  backup_not_found: [404, 'The destination holds no backup with this id.', 'List the backups: `svc backup list`.'],
  invalid_destination: [
    400,
    'The destination cannot be used for backups; the sentence says why.',
    'Name a destination that fits: see docs/operate/backups.md.',
  ],
  credentials_needed: [
    409,
    'The destination needs keys that no file gives; the sentence says which setting names it.',
    'Set the setting that the sentence names.',
  ],
  passphrase_needed: [
    409,
    'Backups are encrypted, and neither a passphrase nor a key of age is configured.',
    'Set backup.passphrase_file or backup.recipients.',
  ],
  wrong_passphrase: [
    409,
    'The backups were encrypted with another passphrase or key.',
    'Give the passphrase or key of that time.',
  ],
  backup_damaged: [
    409,
    'A file of the backup is missing or was changed; the sentence names it.',
    'Restore another backup, or fetch the folder again from a copy.',
  ],
  restore_by_command: [409, 'The state of this node is not in its data folder alone.', 'Stop it, and run `svc backup restore`.'],
  restart_pending: [409, 'A restore was decided already; the node is about to end.', 'Wait for its next start.'],
  destination_unusable: [
    503,
    'The destination cannot be read or written now; the sentence says why.',
    'Mend what the sentence names, then retry.',
  ],
});

export type BackupErrorCode = CodeOf<typeof backupErrors>;

/** `remedy`: what to do this time, since the command line has no page of errors beside it. */
export function backupError(
  code: BackupErrorCode,
  sentence: string,
  remedy: string,
  cause?: unknown,
): DomainError<BackupErrorCode> {
  return backupErrors.error(code, sentence, { remedy, cause });
}

export function damaged(sentence: string, cause?: unknown): DomainError<BackupErrorCode> {
  return backupError(
    'backup_damaged',
    sentence,
    'Restore another backup, or fetch this folder again from where a copy lies.',
    cause,
  );
}
