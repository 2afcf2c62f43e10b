/** The keys of S3, from a file as the tools of AWS write it. They are read anew for each use, so that they can be changed while the node runs. */

import { readFile } from 'node:fs/promises';
import type { DomainError } from '../../../../platform/errors/domain-error.ts';
import { backupError } from '../../errors.ts';

interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
}

const LARGEST = 64 * 1024;

/** Throws `credentials_needed`, whose sentence quotes nothing of the file. */
export async function readS3Credentials(path: string): Promise<S3Credentials> {
  if (path === '') throw needed('An S3 destination needs keys, and no file with them is configured.');
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw needed(`The file ${path} cannot be read (${error.code}).`);
  });
  const values = text.length > LARGEST ? new Map<string, string>() : readSection(text);
  const accessKeyId = values.get('aws_access_key_id');
  const secretAccessKey = values.get('aws_secret_access_key');
  if (!isKey(accessKeyId) || !isKey(secretAccessKey))
    throw needed(`The file ${path} has no lines aws_access_key_id = ... and aws_secret_access_key = ... in its first section.`);
  return { accessKeyId, secretAccessKey, sessionToken: values.get('aws_session_token') || undefined };
}

/** Of the first section; a file without any is one. */
function readSection(text: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*\[/.test(line) && values.size > 0) break;
    const [, name = '', value = ''] = /^\s*([a-z_]+)\s*=\s*(\S+)\s*$/.exec(line) ?? [];
    if (name !== '') values.set(name, value);
  }
  return values;
}

/** What could not stand in a header is no key. */
function isKey(text: string | undefined): text is string {
  return text !== undefined && /^[\x21-\x7e]{1,512}$/.test(text);
}

function needed(sentence: string): DomainError {
  return backupError(
    'credentials_needed',
    sentence,
    'Set backup.s3_credentials_file to a file in the form of ~/.aws/credentials.',
  );
}
