/** Backups in a bucket of S3, or of a service that speaks like it. */
import type { DomainError } from '../../../../platform/errors/domain-error.ts';
import { encodeStrictly } from '../../../../platform/network/aws-signature.ts';
import { backupError, damaged } from '../../errors.ts';
import { type BackupFiles, FILE_NAME, type ListedFile } from '../backup-files.ts';
import { S3Client, type S3ClientOptions } from './s3-client.ts';
import { readErrorCode, readListing } from './s3-xml.ts';

const MAX_ANSWER = 16 * 2 ** 20;
/** In place of a small file, too. */
const MAX_REFUSAL = 64 * 1024;
/** A thousand keys each. */
const MOST_PAGES = 20_000;

export class S3Files implements BackupFiles {
  readonly shown: string;
  readonly parallel = 8;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor(options: S3ClientOptions) {
    const { bucket, prefix, endpoint } = options.location;
    this.#client = new S3Client(options);
    this.#bucket = bucket;
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
    this.shown = `s3://${bucket}/${prefix} at ${endpoint.host}`;
  }

  async read(path: string, maxBytes: number): Promise<Buffer | undefined> {
    const { status, body } = await this.#client.send({ method: 'GET', path, maxAnswerBytes: Math.max(maxBytes, MAX_REFUSAL) });
    if (status !== 404 && body.length > maxBytes) throw damaged(`${path} is too large for a file of a backup.`);
    if (status !== 404) return body;
    if (readErrorCode(body.toString('utf8')) === 'NoSuchBucket') throw noBucket(this.#bucket);
    return undefined;
  }

  async write(path: string, body: Uint8Array): Promise<void> {
    const { status } = await this.#client.send({ method: 'PUT', path, body, maxAnswerBytes: MAX_ANSWER });
    if (status === 404) throw noBucket(this.#bucket);
  }

  /** An object that is copied onto itself is a new one. */
  async renew(path: string): Promise<boolean> {
    const source = `/${this.#bucket}/${this.#prefix}${path}`.split('/').map(encodeStrictly).join('/');
    const headers = { 'x-amz-copy-source': source, 'x-amz-metadata-directive': 'REPLACE' };
    const { status, body } = await this.#client.send({ method: 'PUT', path, headers, maxAnswerBytes: MAX_ANSWER });
    // A copy that fails half-way is said with 200.
    return status !== 404 && readErrorCode(body.toString('utf8')) === undefined;
  }

  async list(folder: string): Promise<ListedFile[]> {
    const found: ListedFile[] = [];
    let next: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const query = {
        'list-type': '2',
        prefix: `${this.#prefix}${folder}/`,
        ...(next !== undefined && { 'continuation-token': next }),
      };
      const { status, body } = await this.#client.send({ method: 'GET', query, maxAnswerBytes: MAX_ANSWER });
      if (status === 404) throw noBucket(this.#bucket);
      const listing = readListing(body.toString('utf8'));
      if (listing === undefined) throw unreadable();
      for (const { key, modifiedAt } of listing.files) {
        const path = key.startsWith(this.#prefix) ? key.slice(this.#prefix.length) : '';
        if (path.startsWith(`${folder}/`) && path.split('/').every((name) => FILE_NAME.test(name)))
          found.push({ path, modifiedAt });
      }
      next = listing.next;
      if (next === undefined) return found;
    }
    throw unreadable();
  }

  async delete(path: string): Promise<void> {
    await this.#client.send({ method: 'DELETE', path, maxAnswerBytes: MAX_ANSWER });
  }

  /** What the service acknowledged, it keeps. */
  async sync(): Promise<void> {}

  async close(): Promise<void> {
    await this.#client.close();
  }
}

function noBucket(bucket: string): DomainError {
  return backupError('destination_unusable', `There is no bucket ${bucket}.`, 'Make it, or correct the destination.');
}

function unreadable(): DomainError {
  return backupError(
    'destination_unusable',
    'The list of the bucket is none that S3 gives.',
    'Look at the endpoint of the destination.',
  );
}
