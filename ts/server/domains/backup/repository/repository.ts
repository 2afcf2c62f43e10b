/** A folder of backups, wherever it is, opened with its key. */
import type { DomainError } from '../../../platform/errors/domain-error.ts';
import type { BackupFiles } from '../destinations/backup-files.ts';
import { backupError, damaged } from '../errors.ts';
import { openFiles } from '../open-files.ts';
import type { BackupAccess } from '../settings.ts';
import { openSealed, parseRecipients, readIdentities } from './age-keys.ts';
import { ChunkStore } from './chunk-store.ts';
import { ManifestStore } from './manifest-store.ts';
import { readPassphrase } from './passphrase.ts';
import { newRepositoryFile, openBox, parseRepositoryFile, type RepositoryFile, repositoryFile } from './repository-file.ts';
import { readSavedKey, writeSavedKey } from './saved-keys.ts';
import { PLAIN, type Sealing, sealingWith } from './sealing.ts';

const FILE = 'repository.json';
const MOST_BYTES = 64 * 1024;

export interface Repository {
  readonly files: BackupFiles;
  readonly sealing: Sealing;
  readonly chunks: ChunkStore;
  readonly manifests: ManifestStore;
}

/** To read from. Throws DomainError: for a folder that is none of backups, and without the right passphrase. */
export async function openRepository(access: BackupAccess): Promise<Repository> {
  const files = openFiles(access.folder, access.remote, access.isTrusted);
  try {
    const file = await findRepositoryFile(files);
    if (file !== undefined) return repositoryOf(files, await openKey(file, access));
    throw backupError(
      'backup_not_found',
      `${files.shown} holds no backups.`,
      'Name the folder that they were written to, or make one.',
    );
  } catch (error) {
    await files.close();
    throw error;
  }
}

/** To write into; makes the folder. Throws `passphrase_needed` where secrets would be written in plain text unasked. */
export async function openRepositoryForWriting(access: BackupAccess): Promise<Repository> {
  const recipients = parseRecipients(access.recipients);
  const passphrase = await readPassphrase(access.passphraseFile);
  const files = openFiles(access.folder, access.remote, access.isTrusted);
  try {
    const known = await findRepositoryFile(files);
    const isOpen = known === undefined ? passphrase === undefined && recipients.length === 0 : known.encryption === null;
    if (isOpen && !access.plainText) throw plainTextUnasked(known !== undefined);
    const key =
      known === undefined ? await makeRepository(files, access, { passphrase, recipients }) : await openKey(known, access);
    if (known !== undefined && key !== undefined) await admitRecipients(files, access, known, key, recipients);
    return repositoryOf(files, key);
  } catch (error) {
    await files.close();
    throw error;
  }
}

/** Undefined where the folder is none of backups yet. */
export async function findRepositoryFile(files: BackupFiles): Promise<RepositoryFile | undefined> {
  const bytes = await files.read(FILE, MOST_BYTES);
  return bytes === undefined ? undefined : parseRepositoryFile(bytes.toString('utf8'));
}

/** The key is kept before anything is sealed with it. */
async function makeRepository(
  files: BackupFiles,
  { dataDir }: BackupAccess,
  by: { passphrase: string | undefined; recipients: readonly string[] },
): Promise<Uint8Array | undefined> {
  const { file, key } = await newRepositoryFile(by);
  if (key !== undefined && by.recipients.length > 0) await keepKey(dataDir, file.id, key);
  await writeRepositoryFile(files, file);
  return key;
}

/** Whoever was named since can open the folder too, and whoever is named no more cannot open it from what is written now. */
async function admitRecipients(
  files: BackupFiles,
  { dataDir, passphraseFile }: BackupAccess,
  known: RepositoryFile,
  key: Uint8Array,
  recipients: readonly string[],
): Promise<void> {
  const listed = known.encryption?.kdf === 'age' ? known.encryption.recipients : [];
  if (recipients.length === 0 || recipients.join() === listed.join()) return;
  await keepKey(dataDir, known.id, key);
  const passphrase = await readPassphrase(passphraseFile);
  await writeRepositoryFile(files, await repositoryFile(known.id, key, { passphrase, recipients }));
}

async function keepKey(dataDir: string | undefined, id: string, key: Uint8Array): Promise<void> {
  if (dataDir !== undefined && (await readSavedKey(dataDir, id)) === undefined) await writeSavedKey(dataDir, id, key);
}

async function writeRepositoryFile(files: BackupFiles, file: RepositoryFile): Promise<void> {
  await files.write(FILE, Buffer.from(`${JSON.stringify(file, undefined, 2)}\n`));
  await files.sync();
}

function repositoryOf(files: BackupFiles, key: Uint8Array | undefined): Repository {
  const sealing = key === undefined ? PLAIN : sealingWith(key);
  return { files, sealing, chunks: new ChunkStore(files, sealing), manifests: new ManifestStore(files) };
}

function plainTextUnasked(isKnown: boolean): DomainError {
  const sentence = isKnown
    ? 'The folder holds backups that are not encrypted, and a new one would be like them.'
    : 'A backup holds keys and everything that was said, and no passphrase is configured.';
  const remedy = isKnown
    ? 'Name another folder, or set backup.plain_text = true.'
    : 'Set backup.passphrase_file or backup.recipients, or backup.plain_text = true to write it unencrypted.';
  return backupError('passphrase_needed', sentence, remedy);
}

/** Whatever may open a key: a passphrase, a private key, the node's saved key. */
type Keys = Pick<BackupAccess, 'passphraseFile' | 'identityFile' | 'dataDir'>;

/** Opens the key of a backup folder. Returns undefined where the folder is not encrypted. Throws `passphrase_needed` or `wrong_passphrase`. */
async function openKey(
  { id, encryption }: RepositoryFile,
  { passphraseFile, identityFile, dataDir }: Keys,
): Promise<Uint8Array | undefined> {
  const passphrase = await readPassphrase(passphraseFile);
  if (encryption === null) return undefined;
  const [age, box] = encryption.kdf === 'age' ? [encryption, encryption.passphrase] : [undefined, encryption];
  const identities = age === undefined ? undefined : await readIdentities(identityFile);
  const byAge = age && identities && (await openSealed(identities, Buffer.from(age.sealed_key, 'base64')));
  const byPassphrase = box && passphrase !== undefined ? await openBox(id, box, passphrase) : undefined;
  const key = byAge ?? byPassphrase ?? (age && (await readSavedKey(dataDir, id)));
  if (key === undefined)
    throw noKey(age !== undefined, identities !== undefined || (box !== undefined && passphrase !== undefined));
  if (key.length !== 32) throw damaged('The key of the backup folder has another length than svc gives it.');
  return key;
}

function noKey(hasAge: boolean, wasTried: boolean): DomainError {
  const names = hasAge ? 'backup.identity_file' : 'backup.passphrase_file';
  if (!wasTried)
    return backupError('passphrase_needed', 'These backups are encrypted.', `Name the file of what opens them: ${names}.`);
  return backupError(
    'wrong_passphrase',
    `These backups were encrypted with another ${hasAge ? 'key' : 'passphrase'}.`,
    `Name the file of the ${hasAge ? 'key' : 'passphrase'} that they were made with, or another folder for new ones.`,
  );
}
