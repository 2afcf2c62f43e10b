/** One request to an S3 service, signed, bounded in time and size, and tried again where that can help. Redirects are not followed. */

import { setTimeout as wait } from 'node:timers/promises';
import type { DomainError } from '../../../../platform/errors/domain-error.ts';
import type { AddressPolicy } from '../../../../platform/network/address-policy.ts';
import { encodeStrictly, signRequest } from '../../../../platform/network/aws-signature.ts';
import { HttpClient } from '../../../../platform/network/http-client.ts';
import { HttpClientError } from '../../../../platform/network/http-client-error.ts';
import type { HttpResponse } from '../../../../platform/network/http-response.ts';
import { backupError, backupErrors, damaged } from '../../errors.ts';
import type { S3Location } from '../location.ts';
import { readS3Credentials } from './s3-credentials.ts';
import { readErrorCode } from './s3-xml.ts';

export interface S3ClientOptions {
  readonly location: S3Location;
  readonly credentialsFile: string;
  readonly policy: AddressPolicy;
  /** Longest silence of the service. */
  readonly idleMs?: number;
  /** Between the first and the second attempt; later ones wait longer. */
  readonly retryMs?: number;
}

interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** Below the prefix; undefined: the bucket. */
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly maxAnswerBytes: number;
}

interface S3Answer {
  readonly status: number;
  readonly body: Buffer;
}

const ATTEMPTS = 4;
const NOTHING = new Uint8Array();

export class S3Client {
  readonly #options: S3ClientOptions;
  readonly #client: HttpClient;

  constructor(options: S3ClientOptions) {
    this.#options = options;
    const { policy, idleMs = 60_000 } = options;
    this.#client = new HttpClient({ policy, connections: 16, connectMs: idleMs, firstByteMs: idleMs, idleMs });
  }

  /** Resolves for 2xx and 404. Throws `destination_unusable`, `invalid_destination`, `credentials_needed`, or `backup_damaged` for too large an answer. */
  async send(request: S3Request): Promise<S3Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(request);
      if ('status' in outcome) return outcome;
      if (attempt === ATTEMPTS || !outcome.mayPass) throw outcome.error;
      await wait((this.#options.retryMs ?? 300) * 2 ** (attempt - 1));
    }
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #attempt(request: S3Request): Promise<S3Answer | Failure> {
    const { endpoint } = this.#options.location;
    try {
      const answer = await this.#sendOnce(request);
      const isTaken = answer.status === 404 || (answer.status >= 200 && answer.status < 300);
      return isTaken ? answer : refusedBy(answer, endpoint);
    } catch (error) {
      return backupErrors.has(error) ? { error, mayPass: false } : broken(error, endpoint);
    }
  }

  async #sendOnce(request: S3Request): Promise<S3Answer> {
    const { location, credentialsFile } = this.#options;
    const url = urlOf(location, request);
    const credentials = await readS3Credentials(credentialsFile);
    const { method, headers: own = {}, body = NOTHING } = request;
    const headers = signRequest(
      { method, url, headers: own, body },
      credentials,
      { region: location.region, service: 's3' },
      new Date(),
    );
    const answer = await this.#client.request(url, { method, headers, body });
    return { status: answer.status, body: await readBody(answer, request.maxAnswerBytes) };
  }
}

interface Failure {
  error: DomainError;
  /** It may be gone a moment later. */
  mayPass: boolean;
}

function urlOf({ endpoint, bucket, prefix, isVirtualHost }: S3Location, { path, query = {} }: S3Request): URL {
  const key = path === undefined ? [] : [...(prefix === '' ? [] : prefix.split('/')), ...path.split('/')];
  const segments = [...(isVirtualHost ? [] : [bucket]), ...key].map(encodeStrictly);
  const url = new URL(endpoint);
  if (isVirtualHost) url.hostname = `${bucket}.${endpoint.hostname}`;
  url.pathname = `/${segments.join('/')}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  // What is signed is what is sent.
  url.search = [...url.searchParams].map(([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value)}`).join('&');
  return url;
}

async function readBody(answer: HttpResponse, maxBytes: number): Promise<Buffer> {
  try {
    return await answer.bytes(maxBytes);
  } catch (error) {
    if (!(error instanceof HttpClientError && error.failure === 'body_too_large')) throw error;
    throw damaged('The S3 service sends more than a file of a backup has.');
  }
}

/** The code alone: what else a service says may be anything. */
function refusedBy({ status, body }: S3Answer, endpoint: URL): Failure {
  const code = readErrorCode(body.toString('utf8')) ?? '';
  const said = `${endpoint.host} answers ${status}${code === '' ? '' : ` ${code}`}`;
  if (status >= 500 || status === 429 || status === 408 || code === 'SlowDown' || code === 'RequestTimeout')
    return unusable(`${said}.`, 'It may pass; try again later.', true);
  if (status === 401 || status === 403)
    return unusable(
      `${said}.`,
      'Look at the keys in backup.s3_credentials_file, what they may do, and the clock of this machine.',
    );
  if (status >= 300 && status < 400)
    return unusable(`${said}, and redirects are not followed.`, 'Name the region and the endpoint of the bucket.');
  return unusable(`${said}.`, 'Look at bucket, region and endpoint of the destination.');
}

function broken(error: unknown, endpoint: URL): Failure {
  const { code, message } = error as NodeJS.ErrnoException;
  const sentence = `The S3 service at ${endpoint.host} cannot be reached: ${code ?? message}.`;
  return unusable(sentence, 'Look at the network and at the endpoint of the destination.', true, error);
}

function unusable(sentence: string, remedy: string, mayPass = false, cause?: unknown): Failure {
  return { error: backupError('destination_unusable', sentence, remedy, cause), mayPass };
}
