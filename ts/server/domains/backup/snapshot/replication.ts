/**
 * Backups as the module cluster uses them for a standby: the primary makes one into the standby's folder, the standby proves it and lays it out beside
 * its own state. What belongs to a node and not to its data (its id, its settings, its configuration) stays where it is.
 */
import { constants } from 'node:fs';
import { copyFile, link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder, writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import { decideSwap, openStaging } from '../../../platform/files/staged-swap.ts';
import type { Node } from '../../../platform/node/node.ts';
import { inspectSnapshot, readPages, type Storage } from '../../../platform/storage/index.ts';
import type { BackupFiles } from '../destinations/backup-files.ts';
import { FolderFiles } from '../destinations/folder-files.ts';
import { damaged } from '../errors.ts';
import { CHUNK_BYTES, ChunkStore } from '../repository/chunk-store.ts';
import { DATABASE_PATH, type Manifest, type ManifestEntry } from '../repository/manifest.ts';
import { ManifestStore } from '../repository/manifest-store.ts';
import { prune } from '../repository/prune.ts';
import type { Repository } from '../repository/repository.ts';
import { PLAIN } from '../repository/sealing.ts';
import { createBackup } from './create-backup.ts';
import { extractFile } from './extract-backup.ts';
import { checkNames, DATABASE_NAMES, locate } from './restore-backup.ts';

/** These are a node's own, wherever its data goes. */
const OF_NODE = ['node.json', 'settings.json'];
const KEPT = 2;
const READY = 'ready';
const FACTS = 'ready.json';
/** The database of the snapshot before the last, and its chunks. */
const PREVIOUS = 'previous.db';
const PREVIOUS_FACTS = 'previous.json';

type Facts = Pick<Manifest, 'id' | 'files'>;

export interface ReplicationSource {
  readonly node: Pick<Node, 'dataDir' | 'stateFiles' | 'version' | 'removals'>;
  /** Undefined: nothing is sent from here. */
  readonly storage: Pick<Storage, 'snapshot' | 'dialect' | 'file'> | undefined;
}

export class Replication {
  readonly #parts: ReplicationSource;
  /** Entries of files that lie at a standby, by its folder and by what the file system says of them. */
  readonly #sent = new Map<string, Map<string, ManifestEntry>>();

  constructor(parts: ReplicationSource) {
    this.#parts = parts;
  }

  get names(): string[] {
    return [...DATABASE_NAMES, ...this.#stateFiles.map(({ name }) => name)];
  }

  async push(files: BackupFiles, signal: AbortSignal): Promise<{ id: string; storedBytes: number }> {
    const { node, storage } = this.#parts;
    if (storage === undefined) throw new Error('nothing is sent without a database');
    const { dataDir, version, removals } = node;
    const source = { node: { dataDir, version, removals, stateFiles: this.#stateFiles, configFiles: [] }, storage };
    const known = this.#sent.get(files.shown);
    // Until it has come whole, nothing is known to lie there.
    this.#sent.delete(files.shown);
    const sent = new Map<string, ManifestEntry>();
    const { file } = storage;
    const { id, stored_bytes: storedBytes } = await createBackup(source, repositoryOf(files), {
      signal,
      ...(file !== undefined && {
        putDatabase: async (chunks) => {
          const put = await putPages(file, chunks, known?.get(DATABASE_PATH), signal);
          sent.set(DATABASE_PATH, put.entry);
          return put;
        },
      }),
      reuse: (facts) => known?.get(facts),
      onEntry: (facts, entry) => void sent.set(facts, entry),
    });
    this.#sent.set(files.shown, sent);
    return { id, storedBytes };
  }

  open(folder: string): BackupFiles {
    return new FolderFiles(folder);
  }

  async lay(folder: string, id: string): Promise<number> {
    const repository = repositoryOf(this.open(folder));
    const manifest = await repository.manifests.get(id, PLAIN);
    checkNames(
      manifest,
      this.#stateFiles.map(({ name }) => name),
    );
    const [next, ready] = [join(folder, 'next'), join(folder, READY)];
    await rm(next, { recursive: true, force: true });
    await mkdir(next, { recursive: true, mode: 0o700 });
    const before = await readFacts(ready);
    let isFirst = true;
    for (const entry of manifest.files)
      if (entry.path === DATABASE_PATH) isFirst = await layDatabase(repository, entry, { folder, next, ready, before });
      else await layFile(repository, entry, { next, ready, before });
    const commit = await proveDatabase(join(next, 'svc.db'), manifest, isFirst);
    for (const name of DATABASE_NAMES.slice(1)) await rm(join(next, name), { force: true });
    await writeFileAtomically(join(next, FACTS), JSON.stringify({ id, files: manifest.files } satisfies Facts));
    await keepDatabase(folder, ready, before);
    await rm(ready, { recursive: true, force: true });
    await rename(next, ready);
    await syncFolder(folder);
    await prune(repository, KEPT);
    return commit;
  }

  async decide(
    folder: string,
    id: string,
    dataDir: string,
    { write, remove }: { write: Readonly<Record<string, string>>; remove: readonly string[] },
  ): Promise<void> {
    const ready = join(folder, READY);
    // A process that was killed here has taken a part away: it is laid out again from the chunks.
    if ((await readFacts(ready))?.id !== id) await this.lay(folder, id);
    const staging = await openStaging(dataDir);
    await rm(join(ready, FACTS));
    for (const name of this.names)
      await rename(join(ready, name), join(staging, name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
    await decideSwap(dataDir, [...this.names, ...remove], [], { write });
  }

  get #stateFiles() {
    return this.#parts.node.stateFiles.filter(({ name }) => !OF_NODE.includes(name));
  }
}

function repositoryOf(files: BackupFiles): Repository {
  return { files, sealing: PLAIN, chunks: new ChunkStore(files, PLAIN), manifests: new ManifestStore(files) };
}

/** Undefined: nothing is laid out there, or not wholly. */
async function readFacts(ready: string): Promise<Facts | undefined> {
  const text = await readFile(join(ready, FACTS), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Facts);
}

/** Sends the database as it is at one moment: all of it is read, and only chunks that the last one had not are sent. */
async function putPages(
  file: string,
  chunks: ChunkStore,
  known: ManifestEntry | undefined,
  signal: AbortSignal,
): Promise<{ entry: ManifestEntry; storedBytes: number }> {
  let storedBytes = 0;
  const task = { file, chunkBytes: CHUNK_BYTES, known: known?.chunks ?? [], isLive: true };
  const { names, sizeBytes, sha256 } = await readPages(
    task,
    async (bytes) => {
      // Several are under way at once.
      const put = await chunks.put(bytes);
      storedBytes += put.storedBytes;
    },
    signal,
  );
  return { entry: { path: DATABASE_PATH, size_bytes: sizeBytes, sha256, chunks: [...names] }, storedBytes };
}

/** Files that are laid out already are linked. */
async function layFile(
  { chunks }: Repository,
  entry: ManifestEntry,
  { next, ready, before }: { next: string; ready: string; before: Facts | undefined },
): Promise<void> {
  const target = locate(next, entry.path);
  const known = before?.files.find(({ path }) => path === entry.path);
  if (known?.sha256 !== entry.sha256) return await extractFile(chunks, entry, target, () => undefined);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await link(locate(ready, entry.path), target);
}

/**
 * Two files take turns: into the one of the snapshot before the last its changed chunks are written. Resolves to whether all of it was laid out anew,
 * as the first one is, and one that does not come to the bytes that the primary read.
 */
async function layDatabase(
  { chunks }: Repository,
  entry: ManifestEntry,
  { folder, next, ready, before }: { folder: string; next: string; ready: string; before: Facts | undefined },
): Promise<boolean> {
  const target = join(next, 'svc.db');
  const base = await takeBase(folder, ready, before, target);
  if (base !== undefined) {
    await writeChanged(chunks, entry, base, target);
    const { sha256 } = await readPages(
      { file: target, chunkBytes: CHUNK_BYTES, known: entry.chunks, isLive: false },
      async () => undefined,
    );
    if (sha256 === entry.sha256) return false;
    await rm(target);
  }
  await extractFile(chunks, entry, target, () => undefined);
  return true;
}

/** Puts an older state of the database to `target`, and resolves to its chunks; undefined: there is none. */
async function takeBase(
  folder: string,
  ready: string,
  before: Facts | undefined,
  target: string,
): Promise<readonly string[] | undefined> {
  const facts = join(folder, PREVIOUS_FACTS);
  const text = await readFile(facts, 'utf8').catch(() => undefined);
  // From here on its content is neither the one nor the other.
  await rm(facts, { force: true });
  if (text !== undefined) {
    await rename(join(folder, PREVIOUS), target);
    return JSON.parse(text) as string[];
  }
  await rm(join(folder, PREVIOUS), { force: true });
  const known = before?.files.find(({ path }) => path === DATABASE_PATH);
  if (known === undefined) return undefined;
  await copyFile(join(ready, 'svc.db'), target, constants.COPYFILE_FICLONE);
  return known.chunks;
}

async function writeChanged(chunks: ChunkStore, entry: ManifestEntry, base: readonly string[], target: string): Promise<void> {
  const file = await open(target, 'r+');
  try {
    for (const [n, name] of entry.chunks.entries())
      if (name !== base[n]) await file.write(await chunks.get(name), 0, undefined, n * CHUNK_BYTES);
    await file.truncate(entry.size_bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Keeps the database that is about to be replaced for the snapshot after the next. What is laid out is no whole snapshot from then on. */
async function keepDatabase(folder: string, ready: string, before: Facts | undefined): Promise<void> {
  const known = before?.files.find(({ path }) => path === DATABASE_PATH);
  if (known === undefined) return;
  await rm(join(ready, FACTS));
  await rename(join(ready, 'svc.db'), join(folder, PREVIOUS));
  await writeFileAtomically(join(folder, PREVIOUS_FACTS), JSON.stringify(known.chunks));
}

/**
 * The number of its last commit. One that was laid out anew is checked by SQLite; another one has, byte by byte, what the primary read, and is as sound as
 * that. Throws where it is damaged.
 */
async function proveDatabase(file: string, { tables }: Manifest, isFirst: boolean): Promise<number> {
  const found = await inspectSnapshot(file, [{ table: 'svc_database', columns: ['key', 'value'], unless: '' }], !isFirst);
  if (found.problems.length > 0) throw damaged(`The database of the replica is damaged: ${found.problems[0]}.`);
  for (const [name, rows] of Object.entries(tables))
    if (isFirst && rows !== found.tables[name]) throw damaged(`Table ${name} of the replica has other rows than its primary.`);
  return Number(found.keys[0]?.find(([key]) => key === 'commits')?.[1] ?? 0);
}
