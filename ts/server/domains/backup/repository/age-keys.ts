/** Keys of age (https://age-encryption.org/v1): a public one seals the key of a backup folder, the private one beside no server opens it. */

import { readFile } from 'node:fs/promises';
import { listOf } from '../../../platform/config/setting.ts';
import type { DomainError } from '../../../platform/errors/domain-error.ts';
import { backupError } from '../errors.ts';

const RECIPIENT = /^age1[02-9ac-hj-np-z]{58}$/;
const IDENTITY = /^AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}$/;
const LARGEST_FILE = 64 * 1024;

/** Public keys of X25519, separated by commas, each once and in order. Throws `passphrase_needed`. */
export function parseRecipients(text: string): string[] {
  const recipients = [...new Set(listOf(text))].sort();
  const wrong = recipients.find((recipient) => !RECIPIENT.test(recipient));
  if (wrong === undefined && recipients.length <= 20) return recipients;
  throw backupError(
    'passphrase_needed',
    'backup.recipients holds what is no public key of age (age1 and 58 letters), or more than 20.',
    'Write what age-keygen shows as public key.',
  );
}

/** Undefined where no file is configured. Throws `passphrase_needed`, whose sentence quotes nothing of the file. */
export async function readIdentities(path: string): Promise<string[] | undefined> {
  if (path === '') return undefined;
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unusable(`The file ${path} cannot be read (${error.code}).`);
  });
  const lines = text.length > LARGEST_FILE ? [] : text.split(/\r?\n/).map((line) => line.trim());
  const identities = lines.filter((line) => IDENTITY.test(line));
  if (identities.length > 0) return identities;
  throw unusable(`The file ${path} holds no private key of age.`);
}

/** A whole file of age, which its own program opens as well. Throws `passphrase_needed`. */
export async function sealFor(recipients: readonly string[], key: Uint8Array): Promise<Buffer> {
  // Loaded where a key is sealed or opened: most nodes have none of age.
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  try {
    for (const recipient of recipients) encrypter.addRecipient(recipient);
    return Buffer.from(await encrypter.encrypt(key));
  } catch (cause) {
    throw backupError(
      'passphrase_needed',
      'backup.recipients holds a key with a typing error.',
      'Copy it again from age-keygen.',
      cause,
    );
  }
}

/** Undefined: none of them opens it, or it is damaged; the remedy is the same. */
export async function openSealed(identities: readonly string[], sealed: Uint8Array): Promise<Uint8Array | undefined> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  try {
    for (const identity of identities) decrypter.addIdentity(identity);
    return await decrypter.decrypt(sealed);
  } catch {
    return undefined;
  }
}

function unusable(sentence: string): DomainError {
  return backupError('passphrase_needed', sentence, 'Correct backup.identity_file.');
}
