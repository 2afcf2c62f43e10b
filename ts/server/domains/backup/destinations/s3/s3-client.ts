/** One request to an S3 service, signed, bounded in time and size, and tried again where that can help. Redirects are not followed. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import type { AddressPolicy } from '../../../../platform/network/address-policy.ts';
import { BackupError, damaged } from '../../errors.ts';
import type { S3Location } from '../location.ts';
import { encodeStrictly, signRequest } from './aws-signature.ts';
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

export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** Below the prefix; undefined: the bucket. */
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly maxAnswerBytes: number;
}

export interface S3Answer {
  readonly status: number;
  readonly body: Buffer;
}

const ATTEMPTS = 4;
const NOTHING = new Uint8Array();

export class S3Client {
  readonly #options: S3ClientOptions;
  readonly #agent: HttpAgent;

  constructor(options: S3ClientOptions) {
    this.#options = options;
    const Agent = options.location.endpoint.protocol === 'https:' ? HttpsAgent : HttpAgent;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 16 });
  }

  /** Resolves for 2xx and 404. Throws BackupError `destination_unusable`, `invalid_destination`, `credentials_needed`, or `backup_damaged` for too large an answer. */
  async send(request: S3Request): Promise<S3Answer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await this.#sendOnce(request);
        if (answer.status === 404 || (answer.status >= 200 && answer.status < 300)) return answer;
        throw refusedBy(answer, this.#options.location.endpoint);
      } catch (error) {
        const failure = error instanceof BackupError ? error : broken(error, this.#options.location.endpoint);
        if (attempt === ATTEMPTS || !(failure instanceof Transient)) throw failure;
        await wait((this.#options.retryMs ?? 300) * 2 ** (attempt - 1));
      }
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #sendOnce(request: S3Request): Promise<S3Answer> {
    const { location, credentialsFile, policy, idleMs = 60_000 } = this.#options;
    const url = urlOf(location, request);
    policy.check(url);
    const credentials = await readS3Credentials(credentialsFile);
    const body = request.body ?? NOTHING;
    const headers = {
      ...signRequest(
        { method: request.method, url, headers: request.headers ?? {}, body },
        credentials,
        location.region,
        new Date(),
      ),
      'content-length': String(body.length),
    };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
      const options = { method: request.method, headers, lookup: policy.lookupFor(url), agent: this.#agent };
      const sent = open(url, options, resolve).on('error', reject);
      sent.setTimeout(idleMs, () => sent.destroy(new Error(`no answer for ${idleMs / 1000} s`)));
      sent.end(body);
    });
    return { status: answer.statusCode ?? 0, body: await readBody(answer, request.maxAnswerBytes) };
  }
}

/** A fault that may be gone a moment later. */
class Transient extends BackupError {}

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

async function readBody(answer: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) {
      answer.destroy();
      throw damaged('The S3 service sends more than a file of a backup has.');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The code alone: what else a service says may be anything. */
function refusedBy({ status, body }: S3Answer, endpoint: URL): BackupError {
  const code = readErrorCode(body.toString('utf8')) ?? '';
  const said = `${endpoint.host} answers ${status}${code === '' ? '' : ` ${code}`}`;
  if (status >= 500 || status === 429 || status === 408 || code === 'SlowDown' || code === 'RequestTimeout')
    return new Transient('destination_unusable', `${said}.`, 'It may pass; try again later.');
  if (status === 401 || status === 403)
    return new BackupError(
      'destination_unusable',
      `${said}.`,
      'Look at the keys in backup.s3_credentials_file, what they may do, and the clock of this machine.',
    );
  if (status >= 300 && status < 400)
    return new BackupError(
      'destination_unusable',
      `${said}, and redirects are not followed.`,
      'Name the region and the endpoint of the bucket.',
    );
  return new BackupError('destination_unusable', `${said}.`, 'Look at bucket, region and endpoint of the destination.');
}

function broken(error: unknown, endpoint: URL): BackupError {
  const { code, message } = error as NodeJS.ErrnoException;
  const sentence = `The S3 service at ${endpoint.host} cannot be reached: ${code ?? message}.`;
  return new Transient('destination_unusable', sentence, 'Look at the network and at the endpoint of the destination.', error);
}
