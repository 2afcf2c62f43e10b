/** Makes one backup of a node that serves. */
import { createHash, randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { JobProgress } from '../../../platform/jobs/index.ts';
import type { Node } from '../../../platform/node/node.ts';
import { inspectSnapshot, type Storage } from '../../../platform/storage/index.ts';
import { CHUNK_BYTES, type ChunkStore } from '../repository/chunk-store.ts';
import {
  DATABASE_PATH,
  type Manifest,
  type ManifestBody,
  type ManifestEntry,
  type ManifestHead,
} from '../repository/manifest.ts';
import type { ManifestStore } from '../repository/manifest-store.ts';
import type { Repository } from '../repository/repository.ts';
import type { Sealing } from '../repository/sealing.ts';
import { OrderedWindow } from './ordered-window.ts';

export interface BackupSource {
  readonly node: Pick<Node, 'dataDir' | 'stateFiles' | 'configFiles' | 'version' | 'removals'>;
  readonly storage: Pick<Storage, 'snapshot' | 'dialect'>;
}

interface CreateOptions {
  onProgress?(progress: JobProgress): void;
  readonly signal?: AbortSignal;
  /** Proves what is about to be listed; what it throws, the backup fails with, and nothing is listed. */
  prove?(manifest: Manifest): Promise<void>;
  /** Puts the database in place of a copy of it that is made, counted and read. */
  putDatabase?(chunks: ChunkStore): Promise<{ entry: ManifestEntry; storedBytes: number }>;
  /** An entry that the folder has already, by what the file system says of the file. The database is always read. */
  reuse?(facts: string): ManifestEntry | undefined;
  onEntry?(facts: string, entry: ManifestEntry): void;
}

/** The backup is there when this resolves, and not before. Throws DomainError and StorageError. */
export async function createBackup(
  source: BackupSource,
  repository: Repository,
  options: CreateOptions = {},
): Promise<ManifestHead> {
  const scratch = join(source.node.dataDir, 'cache', 'backup', randomBytes(8).toString('hex'));
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  try {
    return await writeBackup(source, repository, join(scratch, DATABASE_PATH), options);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Removes what killed processes left. */
export async function clearScratch(dataDir: string): Promise<void> {
  await rm(join(dataDir, 'cache', 'backup'), { recursive: true, force: true });
}

async function writeBackup(
  source: BackupSource,
  repository: Repository,
  snapshot: string,
  options: CreateOptions,
): Promise<ManifestHead> {
  const { files: store, manifests, sealing } = repository;
  // What the copy of the database names is there until its files are read.
  const release = source.node.removals.hold();
  const { body, storedBytes } = await putAll(source, repository, snapshot, options).finally(release);
  await store.sync();
  const head: ManifestHead = {
    ...newIdentity(),
    format: 'svc-backup-1',
    version: source.node.version,
    key_id: sealing.keyId ?? null,
    size_bytes: body.files.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
    stored_bytes: storedBytes,
  };
  await options.prove?.({ ...head, ...body });
  await list(manifests, head, body, sealing);
  return head;
}

async function putAll(
  { node, storage }: BackupSource,
  { chunks }: Repository,
  snapshot: string,
  { onProgress, signal, reuse, onEntry, putDatabase }: CreateOptions,
): Promise<{ body: ManifestBody; storedBytes: number }> {
  onProgress?.({ done: 0, unit: 'bytes', message: 'copying the database' });
  const put = await putDatabase?.(chunks);
  const { tables } = put === undefined ? await copyDatabase(storage, snapshot, signal) : { tables: {} };
  const copied =
    put === undefined ? [{ path: DATABASE_PATH, source: snapshot, sizeBytes: (await stat(snapshot)).size, facts: '' }] : [];
  const sources = [...copied, ...(await listSourceFiles(node))];
  const total = sources.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const files: ManifestEntry[] = put === undefined ? [] : [put.entry];
  let [done, storedBytes] = [0, put?.storedBytes ?? 0];
  for (const file of sources) {
    const onChunk = (read: number, stored: number): void => {
      signal?.throwIfAborted();
      done += read;
      storedBytes += stored;
      onProgress?.({ done, total, unit: 'bytes', message: file.path });
    };
    const known = file.facts === '' ? undefined : reuse?.(file.facts);
    const entry = known ?? (await putFile(chunks, file, onChunk).catch((error: unknown) => ifDeleted(file, error)));
    if (entry === undefined) continue;
    files.push(entry);
    onEntry?.(file.facts, entry);
  }
  return { body: { database: storage.dialect, tables, files }, storedBytes };
}

async function copyDatabase(storage: BackupSource['storage'], snapshot: string, signal: AbortSignal | undefined) {
  await storage.snapshot(snapshot, signal);
  return await inspectSnapshot(snapshot);
}

/** The backup is there from here on, if what was written can be read. */
async function list(manifests: ManifestStore, head: ManifestHead, body: ManifestBody, sealing: Sealing): Promise<void> {
  await manifests.put(head, body, sealing);
  try {
    await manifests.get(head.id, sealing);
  } catch (error) {
    await manifests.delete(head.id);
    throw error;
  }
}

/** A file that is no module's to keep for the backup may be deleted after it was listed. */
function ifDeleted({ path }: SourceFile, error: unknown): undefined {
  if (path === DATABASE_PATH || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

function newIdentity(): Pick<ManifestHead, 'id' | 'created_at'> {
  const created = new Date().toISOString();
  const time = created.replaceAll(/[-:.]/g, '');
  return { id: `${time}-${randomBytes(4).toString('hex')}`, created_at: created };
}

async function putFile(
  chunks: ChunkStore,
  { path, source }: SourceFile,
  onChunk: (read: number, stored: number) => void,
): Promise<ManifestEntry> {
  const hash = createHash('sha256');
  const window = new OrderedWindow<string>(chunks.parallel);
  let sizeBytes = 0;
  const put = async (bytes: Buffer): Promise<string> => {
    const { name, storedBytes } = await chunks.put(bytes);
    onChunk(bytes.length, storedBytes);
    return name;
  };
  const file = await open(source, 'r');
  try {
    for (;;) {
      const bytes = await readFull(file);
      if (bytes.length === 0) break;
      hash.update(bytes);
      sizeBytes += bytes.length;
      await window.add(() => put(bytes));
      if (bytes.length < CHUNK_BYTES) break;
    }
    return { path, size_bytes: sizeBytes, sha256: hash.digest('hex'), chunks: await window.results() };
  } finally {
    await window.settled();
    await file.close();
  }
}

/** A read may bring less than was asked for; every chunk but a file's last one is whole. */
async function readFull(file: Awaited<ReturnType<typeof open>>): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(CHUNK_BYTES);
  let length = 0;
  while (length < CHUNK_BYTES) {
    const { bytesRead } = await file.read(bytes, length, CHUNK_BYTES - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

/** A file of a node that a backup holds beside its database. */
interface SourceFile {
  /** The path in the backup. */
  readonly path: string;
  /** The path on this machine. */
  readonly source: string;
  readonly sizeBytes: number;
  /** Another content has other ones; the empty text: it is always another. */
  readonly facts: string;
}

/** Lists the files. Links and other files that are none are left out, and so is what is not there. */
async function listSourceFiles({
  dataDir,
  stateFiles,
  configFiles,
}: Pick<Node, 'dataDir' | 'stateFiles' | 'configFiles'>): Promise<SourceFile[]> {
  const found: SourceFile[] = [];
  for (const { name } of stateFiles) await addTree(found, join(dataDir, name), `data/${name}`);
  for (const [n, path] of configFiles.entries()) await addTree(found, path, `config/${n}-${basename(path)}`);
  return found;
}

async function addTree(found: SourceFile[], source: string, path: string): Promise<void> {
  const facts = await lstat(source).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (facts?.isFile())
    found.push({ path, source, sizeBytes: facts.size, facts: [path, facts.size, facts.mtimeMs, facts.ino].join() });
  if (!facts?.isDirectory()) return;
  for (const name of (await readdir(source)).sort()) await addTree(found, join(source, name), `${path}/${name}`);
}
