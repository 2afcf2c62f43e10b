/** The key of a backup folder, from whatever of passphrase, private key and kept key is at hand. */
import { BackupError, damaged } from '../errors.ts';
import type { BackupAccess } from '../settings.ts';
import { openSealed, readIdentities } from './age-keys.ts';
import { readKeptKey } from './kept-keys.ts';
import { readPassphrase } from './passphrase.ts';
import { openBox, type RepositoryFile } from './repository-file.ts';

type Keys = Pick<BackupAccess, 'passphraseFile' | 'identityFile' | 'dataDir'>;

/** Undefined where the folder is not encrypted. Throws BackupError `passphrase_needed` or `wrong_passphrase`. */
export async function openKey(
  { id, encryption }: RepositoryFile,
  { passphraseFile, identityFile, dataDir }: Keys,
): Promise<Uint8Array | undefined> {
  const passphrase = await readPassphrase(passphraseFile);
  if (encryption === null) return undefined;
  const [age, box] = encryption.kdf === 'age' ? [encryption, encryption.passphrase] : [undefined, encryption];
  const identities = age === undefined ? undefined : await readIdentities(identityFile);
  const byAge = age && identities && (await openSealed(identities, Buffer.from(age.sealed_key, 'base64')));
  const byPassphrase = box && passphrase !== undefined ? await openBox(id, box, passphrase) : undefined;
  const key = byAge ?? byPassphrase ?? (age && (await readKeptKey(dataDir, id)));
  if (key === undefined)
    throw noKey(age !== undefined, identities !== undefined || (box !== undefined && passphrase !== undefined));
  if (key.length !== 32) throw damaged('The key of the backup folder has another length than svc gives it.');
  return key;
}

function noKey(hasAge: boolean, wasTried: boolean): BackupError {
  const names = hasAge ? 'backup.identity_file' : 'backup.passphrase_file';
  if (!wasTried)
    return new BackupError('passphrase_needed', 'These backups are encrypted.', `Name the file of what opens them: ${names}.`);
  return new BackupError(
    'wrong_passphrase',
    `These backups were encrypted with another ${hasAge ? 'key' : 'passphrase'}.`,
    `Name the file of the ${hasAge ? 'key' : 'passphrase'} that they were made with, or another folder for new ones.`,
  );
}
