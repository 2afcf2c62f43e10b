/** Settings of the backup module. */
import Type from 'typebox';
import { integerSchema, pathSchema, type SettingValues, setting, textSchema } from '../../platform/config/setting.ts';
import type { RemoteAccess } from './open-files.ts';

export const backupSettings = {
  'backup.folder': setting(
    pathSchema,
    '',
    'Folder that backups go to; default is backups inside data_dir. `svc backup destination` names another while the node runs.',
    { isPath: true, insideOf: { key: 'data_dir', name: 'backups' } },
  ),
  'backup.destination': setting(
    textSchema,
    '',
    'In place of backup.folder: s3://BUCKET/PREFIX?region=REGION&endpoint=https://HOST (endpoint for other services than Amazon), or sftp://USER@HOST:PORT/FOLDER.',
  ),
  'backup.s3_credentials_file': setting(
    pathSchema,
    '',
    'File with the lines aws_access_key_id = ... and aws_secret_access_key = ..., read for each request.',
    { isPath: true },
  ),
  'backup.ssh_key_file': setting(
    pathSchema,
    '',
    'File with the private key for SFTP, without a passphrase and readable for the server alone.',
    {
      isPath: true,
    },
  ),
  'backup.ssh_known_hosts_file': setting(
    pathSchema,
    '',
    'File with the host key of the SFTP server, as `ssh-keyscan HOST` writes it; another key is refused.',
    { isPath: true },
  ),
  'backup.allowed_hosts': setting(
    textSchema,
    '',
    'Hosts inside the network, separated by commas, that a destination may have which is named while the node runs; http:// before one allows plain http.',
  ),
  'backup.passphrase_file': setting(
    pathSchema,
    '',
    'File with the passphrase that backups are encrypted with; keep a copy of it elsewhere, since nothing can be restored without it.',
    { isPath: true },
  ),
  'backup.recipients': setting(
    textSchema,
    '',
    'Public keys of age (age1..., separated by commas) whose owners can restore: beside a passphrase, or in place of one, so that the machine holds nothing that opens the backups of another.',
  ),
  'backup.identity_file': setting(
    pathSchema,
    '',
    'File with a private key of age (AGE-SECRET-KEY-1..., as age-keygen writes it) to restore with; the machine that makes backups needs none.',
    { isPath: true },
  ),
  'backup.plain_text': setting(
    Type.Boolean(),
    false,
    'Without a passphrase file, write backups that anyone can read who has the folder; they hold keys and everything that was said.',
  ),
  'backup.schedule': setting(integerSchema(0, 8760), 0, 'Hours between backups that the node makes by itself; 0 for none.'),
  'backup.keep': setting(
    integerSchema(0, 10_000),
    14,
    'How many backups are kept; older ones are deleted after each new one. 0 keeps all.',
  ),
  'backup.verify': setting(
    Type.Boolean(),
    true,
    'Restore each new backup into a scratch folder below data_dir, which reads it back whole, before older ones are deleted.',
  ),
};

/** What has to be known to open a backup folder. */
export interface BackupAccess {
  /** An absolute path, or the address of a bucket or an SFTP server; see destinations/location.ts. */
  readonly folder: string;
  /** The operator wrote `folder` in a setting or a command: it may lie inside the network. */
  readonly isTrusted: boolean;
  readonly passphraseFile: string;
  readonly plainText: boolean;
  /** Public keys of age, separated by commas. */
  readonly recipients: string;
  readonly identityFile: string;
  /** Of the node, which keeps the keys of folders there that it could not open again otherwise. Undefined: no node is here. */
  readonly dataDir: string | undefined;
  readonly remote: RemoteAccess;
}

/** `folder` is left to whoever knows what was chosen while the node ran. */
export function accessOf(
  settings: SettingValues<typeof backupSettings>,
  dataDir: string | undefined,
): Omit<BackupAccess, 'folder' | 'isTrusted'> {
  return {
    passphraseFile: settings['backup.passphrase_file'],
    plainText: settings['backup.plain_text'],
    recipients: settings['backup.recipients'],
    identityFile: settings['backup.identity_file'],
    dataDir,
    remote: {
      s3CredentialsFile: settings['backup.s3_credentials_file'],
      sshKeyFile: settings['backup.ssh_key_file'],
      sshKnownHostsFile: settings['backup.ssh_known_hosts_file'],
      allowedHosts: settings['backup.allowed_hosts'],
    },
  };
}

/** Where backups go unless something else was chosen while the node ran. */
export function configuredFolder(settings: SettingValues<typeof backupSettings>): string {
  return settings['backup.destination'] || settings['backup.folder'];
}
