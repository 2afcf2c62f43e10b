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
import { inspectSnapshot, type Storage } from '../../../platform/storage/index.ts';
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

type Facts = Pick<Manifest, 'id' | 'files'>;

export interface ReplicationSource {
  readonly node: Pick<Node, 'dataDir' | 'stateFiles' | 'version' | 'removals'>;
  /** Undefined: nothing is sent from here. */
  readonly storage: Pick<Storage, 'snapshot' | 'dialect'> | undefined;
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
    const { id, stored_bytes: storedBytes } = await createBackup(source, repositoryOf(files), {
      signal,
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
    for (const entry of manifest.files) await layFile(repository, entry, { next, ready, before });
    const commit = await proveDatabase(join(next, 'svc.db'), manifest);
    for (const name of DATABASE_NAMES.slice(1)) await rm(join(next, name), { force: true });
    await writeFileAtomically(join(next, FACTS), JSON.stringify({ id, files: manifest.files } satisfies Facts));
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

/** Files that are laid out already are linked, the database is copied and its changed chunks are written over it. */
async function layFile(
  { chunks }: Repository,
  entry: ManifestEntry,
  { next, ready, before }: { next: string; ready: string; before: Facts | undefined },
): Promise<void> {
  const target = locate(next, entry.path);
  const known = before?.files.find(({ path }) => path === entry.path);
  if (known === undefined || (entry.path !== DATABASE_PATH && known.sha256 !== entry.sha256))
    return await extractFile(chunks, entry, target, () => undefined);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  if (entry.path !== DATABASE_PATH) return await link(locate(ready, entry.path), target);
  await copyFile(locate(ready, entry.path), target, constants.COPYFILE_FICLONE);
  const file = await open(target, 'r+');
  try {
    for (const [n, name] of entry.chunks.entries())
      if (name !== known.chunks[n]) await file.write(await chunks.get(name), 0, undefined, n * CHUNK_BYTES);
    await file.truncate(entry.size_bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Throws `backup_damaged` unless it is sound and has the rows that the manifest counts. Resolves to the number of its last commit. */
async function proveDatabase(file: string, { tables }: Manifest): Promise<number> {
  const found = await inspectSnapshot(file, [{ table: 'svc_database', columns: ['key', 'value'], unless: '' }]);
  if (found.problems.length > 0) throw damaged(`The database of the replica is damaged: ${found.problems[0]}.`);
  for (const name of new Set([...Object.keys(tables), ...Object.keys(found.tables)]))
    if (tables[name] !== found.tables[name]) throw damaged(`Table ${name} of the replica has other rows than its primary.`);
  return Number(found.keys[0]?.find(([key]) => key === 'commits')?.[1] ?? 0);
}
