/** Where backups go: what was chosen while the node ran, else what is configured. */

import { access, constants } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import type { DomainError } from '../../platform/errors/domain-error.ts';
import { parseLocation } from './destinations/location.ts';
import { makeFolder } from './destinations/make-folder.ts';
import { writeRemedy } from './destinations/write-remedy.ts';
import { backupError } from './errors.ts';
import { openFiles, type RemoteAccess } from './open-files.ts';
import { findRepositoryFile } from './repository/repository.ts';
import { readChoices, writeChoices } from './saved-choices.ts';
import type { BackupAccess } from './settings.ts';

const NAME_ANOTHER = 'Name a folder that the user of the server can write to, as an absolute path.';

type Destination = Pick<BackupAccess, 'folder' | 'isTrusted'>;

export async function readDestination(dataDir: string, configured: string): Promise<Destination> {
  const chosen = (await readChoices(dataDir)).folder;
  return { folder: chosen ?? configured, isTrusted: chosen === undefined || chosen === configured };
}

/**
 * Makes a folder when it is not there; asks a bucket or a server whether it can be read. `configured` is what the settings name, which may
 * lie inside the network. Throws `invalid_destination`, `credentials_needed` or `destination_unusable`.
 */
export async function writeDestination(dataDir: string, folder: string, configured: string, remote: RemoteAccess): Promise<void> {
  const location = parseLocation(folder);
  const text = location.kind === 'folder' ? await prepareFolder(dataDir, location.folder) : folder;
  const files = openFiles(text, remote, text === configured);
  try {
    await findRepositoryFile(files);
  } finally {
    await files.close();
  }
  await writeChoices(dataDir, { folder: text });
}

async function prepareFolder(dataDir: string, folder: string): Promise<string> {
  const path = resolve(folder);
  const inside = relative(resolve(dataDir), path);
  const isInside = !inside.startsWith('..') && !isAbsolute(inside);
  if (isInside && inside.split('/')[0] !== 'backups') throw refused('Inside data_dir, backups go to its folder backups alone.');
  await makeFolder(path).catch((error: Error) => {
    throw refused(`The folder cannot be made: ${error.message}.`, writeRemedy(error, path, NAME_ANOTHER));
  });
  await access(path, constants.R_OK | constants.W_OK | constants.X_OK).catch((error: Error) => {
    throw refused(`The folder cannot be written: ${error.message}.`, writeRemedy(error, path, NAME_ANOTHER));
  });
  return path;
}

function refused(sentence: string, remedy = NAME_ANOTHER): DomainError {
  return backupError('invalid_destination', sentence, remedy);
}
