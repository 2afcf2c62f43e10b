/**
 * Replaces files of a data folder together: all of them or, after a kill at any moment, none. The new ones are staged in a folder inside it, so
 * that they move by rename. A file `commit.json` in that folder decides: once it is there, the moves are finished, by this process or by the
 * next that takes the folder's lock; without it, what was staged is dropped.
 */
import { lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder, writeFileAtomically } from './atomic-file.ts';

const FOLDER = '.restore';

interface Commit {
  /** Names inside the data folder whose staged successors take their places. */
  readonly place: readonly string[];
  /** Names inside the data folder that have no successor. */
  readonly remove: readonly string[];
  /** Names that move into a folder of the data folder. */
  readonly aside?: { readonly to: string; readonly names: readonly string[] };
  /** Texts of small files, by their paths inside the data folder. */
  readonly write?: Readonly<Record<string, string>>;
}

/** An empty folder to put the new files into. The caller holds the lock of the data folder. */
export async function openStaging(dataDir: string): Promise<string> {
  await finishSwap(dataDir);
  const staging = join(dataDir, FOLDER, 'new');
  await mkdir(staging, { recursive: true, mode: 0o700 });
  return staging;
}

/** Everything in the staging folder, synced to disk by the caller, takes its place in the data folder; `remove` names what goes besides. */
export async function commitSwap(dataDir: string, remove: readonly string[]): Promise<void> {
  await decideSwap(dataDir, remove);
  await finishSwap(dataDir);
}

/**
 * The same, done by whoever takes the lock of the data folder next: for a process that works on the files that go. `unplaced` names what was
 * staged and takes no place.
 */
export async function decideSwap(
  dataDir: string,
  remove: readonly string[],
  unplaced: readonly string[] = [],
  { write }: Pick<Commit, 'write'> = {},
): Promise<void> {
  const staging = join(dataDir, FOLDER, 'new');
  await syncFolder(staging);
  const place = (await readdir(staging)).filter((name) => !unplaced.includes(name));
  const commit: Commit = { place, remove: remove.filter((name) => !place.includes(name)), ...(write !== undefined && { write }) };
  await writeFileAtomically(join(dataDir, FOLDER, 'commit.json'), JSON.stringify(commit));
}

/** Has whoever takes the lock of the data folder next move these names into a folder of it, and write these files. Nothing is lost. */
export async function decideAside(
  dataDir: string,
  aside: NonNullable<Commit['aside']>,
  write: NonNullable<Commit['write']>,
): Promise<void> {
  await mkdir(join(dataDir, FOLDER), { recursive: true, mode: 0o700 });
  const commit: Commit = { place: [], remove: [], aside, write };
  await writeFileAtomically(join(dataDir, FOLDER, 'commit.json'), JSON.stringify(commit));
}

/** Finishes a swap that was committed, and drops one that was not. Idempotent. The caller holds the lock of the data folder. */
export async function finishSwap(dataDir: string): Promise<void> {
  const folder = join(dataDir, FOLDER);
  if (!(await exists(folder))) return;
  const commit = await readCommit(join(folder, 'commit.json'));
  if (commit !== undefined) {
    for (const name of commit.aside?.names ?? []) await moveAside(dataDir, commit.aside?.to ?? '', name);
    for (const name of commit.remove) await rm(join(dataDir, name), { recursive: true, force: true });
    for (const name of commit.place) await place(dataDir, name);
    for (const [name, text] of Object.entries(commit.write ?? {})) {
      await mkdir(dirname(join(dataDir, name)), { recursive: true, mode: 0o700 });
      await writeFileAtomically(join(dataDir, name), text, 0o600);
    }
    await syncFolder(dataDir);
    await rm(join(folder, 'commit.json'));
    await syncFolder(folder);
  }
  await rm(folder, { recursive: true, force: true });
}

/** A name that is gone was moved already. */
async function moveAside(dataDir: string, to: string, name: string): Promise<void> {
  await mkdir(join(dataDir, to), { recursive: true, mode: 0o700 });
  if (await exists(join(dataDir, name))) await rename(join(dataDir, name), join(dataDir, to, name));
}

/** A staged name that is gone has its place already. */
async function place(dataDir: string, name: string): Promise<void> {
  const staged = join(dataDir, FOLDER, 'new', name);
  if (!(await exists(staged))) return;
  await rm(join(dataDir, name), { recursive: true, force: true });
  await rename(staged, join(dataDir, name));
}

async function readCommit(path: string): Promise<Commit | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Commit);
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
