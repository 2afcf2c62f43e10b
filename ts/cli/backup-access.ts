/** Which backups a command means, and what opens them. */
import { resolve } from 'node:path';
import {
  accessOf,
  type BackupAccess,
  backupSettings,
  configuredFolder,
  loadOfflineBackups,
} from '../server/domains/backup/index.ts';
import { valuesOf } from '../server/platform/config/config.ts';
import type { Invocation, Options } from './command.ts';
import { readConfig } from './configuration.ts';

export const accessOptions = {
  from: {
    kind: 'text',
    value: 'FOLDER',
    help: 'folder, s3://... or sftp://... with the backups (else the destination of this node)',
  },
  'passphrase-file': { kind: 'text', value: 'FILE', help: 'file with the passphrase (else backup.passphrase_file)' },
  'identity-file': { kind: 'text', value: 'FILE', help: 'file with a private key of age (else backup.identity_file)' },
} as const satisfies Options;

export async function backupAccess(invocation: Invocation<typeof accessOptions>): Promise<BackupAccess> {
  const { options } = invocation;
  const config = readConfig(invocation);
  const settings = valuesOf(config, backupSettings);
  const dataDir = config.values.data_dir;
  const { readDestination } = await loadOfflineBackups();
  const [passphrase, identity] = [options['passphrase-file'], options['identity-file']];
  const where =
    options.from === undefined
      ? await readDestination(dataDir, configuredFolder(settings))
      : { folder: destinationText(options.from), isTrusted: true };
  return {
    ...accessOf(settings, dataDir),
    ...where,
    ...(passphrase !== undefined && { passphraseFile: resolve(passphrase) }),
    ...(identity !== undefined && { identityFile: resolve(identity) }),
  };
}

/** A path counts from the working directory; an address is one. */
export function destinationText(text: string): string {
  return /^(?:s3|sftp):/i.test(text) ? text : resolve(text);
}
