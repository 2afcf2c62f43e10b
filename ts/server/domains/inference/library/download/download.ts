/**
 * Downloads one file over connections that break: resumes with Range where the server really continues the same file, starts
 * again where it does not, and is done only when size and SHA-256 are right.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { AddressPolicy } from '../../../../platform/network/address-policy.ts';
import { HttpClient } from '../../../../platform/network/http-client.ts';
import { asDiskError, gigabytes, noSpace } from '../files/disk-space.ts';
import { LibraryError } from '../files/library-error.ts';
import { isModelMagic } from '../files/model-facts.ts';
import { planResponse } from './download-plan.ts';
import { PartialFile } from './partial-file.ts';
import { openRemoteFile, type RemoteFile } from './remote-file.ts';

export interface RetryPolicy {
  /** Attempts in a row that bring no byte before the download gives up. */
  maxAttempts: number;
  /** Pause before the second attempt, milliseconds; doubles up to a minute. */
  baseMs: number;
  /** Longest silence of the server, milliseconds. */
  idleMs: number;
}

export const defaultRetry: RetryPolicy = { maxAttempts: 6, baseMs: 1_000, idleMs: 60_000 };

export interface DownloadProgress {
  receivedBytes: number;
  totalBytes?: number;
}

interface DownloadRequest {
  url: URL;
  partialPath: string;
  /** The hash that the bytes must have, where it is known beforehand; else the hub's own word counts. */
  sha256?: string;
  /** More than this many bytes are refused. */
  maxBytes: number;
  policy: AddressPolicy;
  /** Asks in place of a client of this download's own. */
  client?: Pick<HttpClient, 'request'> | undefined;
  /** What the bytes are of, where several addresses give the same; absent: of this address alone. */
  identity?: string | undefined;
  token?: string;
  retry?: RetryPolicy;
  signal?: AbortSignal;
  onProgress?: (progress: DownloadProgress) => void;
  /** Sentences for a person: resumed, retried, started again. */
  onNote?: (note: string) => void;
}

export interface DownloadResult {
  sha256: string;
  sizeBytes: number;
  /** Commit of the hub's repository. */
  revision?: string;
  /** True when the server or the caller named the SHA-256 beforehand. */
  verified: boolean;
}

const maxRestarts = 3;
/** Pauses that a server may ask for, milliseconds. */
const maxPauseMs = 60_000;

/** A failure that another attempt may cure. */
class TransientFailure extends Error {
  readonly pauseMs: number;

  constructor(message: string, pauseMs = 0) {
    super(message);
    this.pauseMs = pauseMs;
  }
}

/** Carries what the disk threw past the retries. */
class DiskFailure extends Error {
  constructor(cause: unknown) {
    super('the disk failed', { cause });
  }
}

export class Download {
  readonly #request: DownloadRequest;
  readonly #retry: RetryPolicy;
  readonly #partial: PartialFile;
  readonly #client: Pick<HttpClient, 'request'>;
  readonly #ownClient: HttpClient | undefined;
  #revision: string | undefined;
  #nRestarts = 0;
  #furthestBytes: number;

  private constructor(request: DownloadRequest, partial: PartialFile) {
    this.#request = request;
    this.#retry = request.retry ?? defaultRetry;
    this.#partial = partial;
    const { idleMs } = this.#retry;
    const limits = { connectMs: idleMs, firstByteMs: idleMs, idleMs };
    this.#ownClient = request.client === undefined ? new HttpClient({ policy: request.policy, ...limits }) : undefined;
    this.#client = (request.client ?? this.#ownClient) as Pick<HttpClient, 'request'>;
    this.#furthestBytes = partial.receivedBytes;
  }

  /** Leaves a complete, verified and synced file at partialPath. Throws LibraryError, or the signal's reason. */
  static async run(request: DownloadRequest): Promise<DownloadResult> {
    const partial = await PartialFile.open(request.partialPath, request.identity ?? identityUrl(request.url), request.signal);
    const download = new Download(request, partial);
    try {
      return await download.#run();
    } finally {
      await Promise.all([download.#ownClient?.close(), partial.close()]);
    }
  }

  async #run(): Promise<DownloadResult> {
    let resumed = this.#partial.receivedBytes > 0;
    if (resumed) this.#note(`resuming after ${this.#partial.receivedBytes} bytes`);
    for (;;) {
      await this.#fetchAll();
      const sha256 = this.#partial.digest();
      const expected = this.#expectedSha256();
      if (expected === undefined || expected === sha256) return await this.#finish(sha256, expected !== undefined);
      await this.#partial.restart({ url: this.#partial.identity.url });
      if (!resumed) throw await this.#mismatch(expected, sha256);
      // Bytes of an earlier run may have been lost in a crash; a whole new file tells.
      resumed = false;
      this.#note('the resumed file does not match its SHA-256; starting again');
    }
  }

  #expectedSha256(): string | undefined {
    return this.#request.sha256 ?? this.#partial.identity.sha256;
  }

  async #finish(sha256: string, verified: boolean): Promise<DownloadResult> {
    await this.#partial.sync();
    await this.#partial.forgetIdentity();
    const revision = this.#revision;
    return { sha256, sizeBytes: this.#partial.receivedBytes, verified, ...(revision !== undefined && { revision }) };
  }

  async #mismatch(expected: string, sha256: string): Promise<LibraryError> {
    await this.#partial.discard();
    return new LibraryError(
      'verification_failed',
      `the file has SHA-256 ${sha256}, but ${expected} was promised; it was deleted`,
      'try again; if it stays so, the server (or mirror) holds another file',
    );
  }

  async #fetchAll(): Promise<void> {
    for (let failures = 0; ; ) {
      try {
        if (await this.#attempt()) return;
      } catch (error) {
        this.#request.signal?.throwIfAborted();
        if (error instanceof DiskFailure) throw error.cause;
        if (error instanceof LibraryError) throw error;
        // Only bytes that no attempt brought before count as progress: a server that always cuts a whole file must end some time.
        const isProgress = this.#partial.receivedBytes > this.#furthestBytes;
        this.#furthestBytes = Math.max(this.#furthestBytes, this.#partial.receivedBytes);
        failures = isProgress ? 1 : failures + 1;
        await this.#pause(failures, error as Error);
      }
    }
  }

  async #pause(failures: number, error: Error): Promise<void> {
    const { maxAttempts, baseMs } = this.#retry;
    if (failures >= maxAttempts) {
      const host = this.#request.url.host;
      const remedy =
        'check the network (or set SVC_MODELS_MIRROR to a mirror) and run the same command again: it continues where it stopped';
      throw new LibraryError('unreachable', `${host}: ${error.message}`, remedy, error);
    }
    const asked = error instanceof TransientFailure ? error.pauseMs : 0;
    const pauseMs = Math.min(maxPauseMs, Math.max(asked, baseMs * 2 ** (failures - 1) * (0.75 + Math.random() / 2)));
    this.#note(`${error.message}; trying again in ${(pauseMs / 1000).toFixed(1)} s`);
    await delay(pauseMs, undefined, this.#request.signal ? { signal: this.#request.signal } : {});
  }

  /** One connection; true when the file is complete. */
  async #attempt(): Promise<boolean> {
    const { url, signal } = this.#request;
    const response = await openRemoteFile(url, { client: this.#client, headers: this.#headers(), ...(signal && { signal }) });
    try {
      return await this.#take(response);
    } finally {
      response.body.close();
    }
  }

  #headers(): Record<string, string> {
    const { receivedBytes, identity } = this.#partial;
    // identity: a compressed body could not be resumed or measured.
    const { token } = this.#request;
    const own = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { 'accept-encoding': 'identity', 'user-agent': 'svc', ...own };
    const { validator } = identity;
    // With nothing to tell one file from another, continuing could join two: the whole file is asked for again.
    if (receivedBytes === 0 || (validator === undefined && this.#expectedSha256() === undefined)) return headers;
    // A weak validator may not be used with If-Range: RFC 9110, section 13.1.5.
    const condition = validator !== undefined && !validator.startsWith('W/') ? { 'if-range': validator } : {};
    return { ...headers, ...condition, range: `bytes=${receivedBytes}-` };
  }

  async #take(response: RemoteFile): Promise<boolean> {
    this.#revision = response.hub.revision ?? this.#revision;
    const { identity, receivedBytes } = this.#partial;
    const plan = planResponse(response, identity, receivedBytes);
    if (plan.action === 'retry') throw new TransientFailure(plan.reason, plan.pauseMs);
    if (plan.action === 'complete') return true;
    if (plan.action === 'restart') return await this.#restart(plan.reason);
    this.#checkSize(plan.identity.sizeBytes);
    if (plan.startBytes === 0) {
      if (receivedBytes > 0) this.#note('the server sends the whole file again');
      await this.#partial.restart(plan.identity);
    } else await this.#partial.identify(plan.identity);
    await this.#receive(response, plan.identity.sizeBytes);
    return true;
  }

  /** Before the first byte, so that gigabytes are not fetched in vain. */
  #checkSize(sizeBytes = 0): void {
    const { maxBytes } = this.#request;
    if (sizeBytes > maxBytes)
      throw noSpace(`the file has ${gigabytes(sizeBytes)}, and the disk has room for ${gigabytes(maxBytes)}`);
  }

  async #restart(reason: string): Promise<false> {
    if (++this.#nRestarts > maxRestarts) {
      throw new LibraryError(
        'refused_by_server',
        `${reason}, again and again`,
        'the file changes on the server, or the server is broken: try later or use a mirror',
      );
    }
    this.#note(`${reason}; starting again`);
    await this.#partial.restart({ url: this.#partial.identity.url });
    return false;
  }

  async #receive({ body }: RemoteFile, totalBytes: number | undefined): Promise<void> {
    const limit = Math.min(totalBytes ?? Number.POSITIVE_INFINITY, this.#request.maxBytes);
    for await (const bytes of body.chunks()) {
      if (this.#partial.receivedBytes + bytes.length > limit) throw await this.#tooLong(limit);
      if (this.#partial.receivedBytes === 0) await this.#checkMagic(bytes);
      await this.#append(bytes);
      this.#request.onProgress?.({ receivedBytes: this.#partial.receivedBytes, ...(totalBytes !== undefined && { totalBytes }) });
    }
    if (totalBytes !== undefined && this.#partial.receivedBytes < totalBytes)
      throw new TransientFailure('the connection was cut');
  }

  /** A disk that cannot be written is no reason to ask the server again. */
  async #append(bytes: Buffer): Promise<void> {
    try {
      await this.#partial.append(bytes);
    } catch (error) {
      throw new DiskFailure(asDiskError(error));
    }
  }

  async #tooLong(limit: number): Promise<LibraryError> {
    await this.#partial.discard();
    return new LibraryError(
      'refused_by_server',
      `the server sends more than ${limit} bytes`,
      'check the address, or free disk space if the model is that large',
    );
  }

  /** An error page or a wrong file shows in its first bytes: no need to fetch gigabytes of it. */
  async #checkMagic(first: Buffer): Promise<void> {
    if (first.length < 4 || isModelMagic(first.toString('latin1', 0, 4))) return;
    await this.#partial.discard();
    const start = JSON.stringify(first.toString('latin1', 0, 16));
    throw new LibraryError(
      'not_a_model',
      `${identityUrl(this.#request.url)} is no GGUF file (it begins with ${start})`,
      'name the .gguf file itself, not its page',
    );
  }

  #note(note: string): void {
    this.#request.onNote?.(note);
  }
}

const identityUrl = (url: URL) => `${url.origin}${url.pathname}`;
