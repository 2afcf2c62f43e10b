/** The model files of the other nodes of a cluster, as the module cluster brings them, and what this node answers when it is asked. */
import { basename } from 'node:path';
import type { HttpClient } from '../../../platform/network/http-client.ts';
import type { ProbeResults } from '../probe/probe-results.ts';
import { type ModelLibrary, storedModel } from './library.ts';

/** By the file's SHA-256, or by the name of a model that is one file. */
export type WantedFile = { readonly sha256: string } | { readonly name: string };

/** A file that another node has. */
export interface NodeFile {
  /** The node's name. */
  readonly node: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly url: URL;
  /** Asks that node. */
  readonly client: Pick<HttpClient, 'request'>;
}

export interface NodeFiles {
  /** One of the nodes has a model of that name. */
  offers(name: string): boolean;
  /** Those that have the file. */
  find(wanted: WantedFile, signal: AbortSignal | undefined): Promise<NodeFile[]>;
}

export interface OwnFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/**
 * The file on this node. A hash finds files whose hash was recorded when they came, or when something of them was kept; a name has the file hashed, which
 * takes as long as reading it.
 */
export async function findOwnFile(
  library: ModelLibrary,
  hashes: Pick<ProbeResults, 'knownHash' | 'hashOf'>,
  wanted: WantedFile,
  signal: AbortSignal,
): Promise<OwnFile | undefined> {
  for (const entry of await library.entries()) {
    if ('name' in wanted && entry.name !== wanted.name) continue;
    const recorded = entry.sidecar?.files?.find((file) => 'sha256' in wanted && file.sha256 === wanted.sha256);
    const path = recorded && entry.paths.find((each) => basename(each) === recorded.file);
    if (recorded !== undefined && path !== undefined) return { path, sizeBytes: recorded.sizeBytes, sha256: recorded.sha256 };
    const stored = entry.paths.length === 1 ? storedModel(entry) : undefined;
    if (stored === undefined) continue;
    const sha256 = 'name' in wanted ? await hashes.hashOf(stored, signal) : hashes.knownHash(stored);
    if (sha256 !== undefined && ('name' in wanted || sha256 === wanted.sha256))
      return { path: stored.path, sizeBytes: stored.sizeBytes, sha256 };
  }
  return undefined;
}
