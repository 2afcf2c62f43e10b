import { readFile } from 'node:fs/promises';
import type { DomainError } from '../../../platform/errors/domain-error.ts';
import { backupError } from '../errors.ts';

const LONGEST = 4096;
const SHORTEST = 8;

/** The first line of the file; undefined where none is configured. Throws `passphrase_needed`. */
export async function readPassphrase(path: string): Promise<string | undefined> {
  if (path === '') return undefined;
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unusable(`The passphrase file ${path} cannot be read (${error.code}).`);
  });
  const [line = ''] = text.split(/\r?\n/);
  if (line.length >= SHORTEST && line.length <= LONGEST) return line;
  throw unusable(`The first line of ${path} has ${line.length} characters, and a passphrase has ${SHORTEST} to ${LONGEST}.`);
}

function unusable(sentence: string): DomainError {
  return backupError('passphrase_needed', sentence, 'Correct backup.passphrase_file.');
}
