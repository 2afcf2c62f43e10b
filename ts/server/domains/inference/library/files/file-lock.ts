/** One process at a time works on a model: a lock file that names its holder, and that a dead holder does not keep. */
import { link, open, readFile, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { LibraryError } from './library-error.ts';

export interface FileLock {
  release(): Promise<void>;
}

/** The paths of the locks that this process holds: after a kill -9 in a container, the next process has the pid of the last one. */
const held = new Set<string>();

/** Throws LibraryError in_use when another living process holds it. */
export async function lockFile(path: string): Promise<FileLock> {
  const holder = `${process.pid} ${hostname()} ${Date.now()}-${Math.random().toString(36).slice(2)}`;
  for (let attempt = 0; attempt < 3; attempt++) {
    if (await tryCreate(path, holder)) return { release: () => release(path, holder) };
    const other = await readFile(path, 'utf8').catch(() => '');
    if (other !== '' && isAlive(other)) break;
    await removeStale(path, other);
  }
  throw new LibraryError('in_use', 'another process is working on this model', `wait for it; if there is none, delete ${path}`);
}

async function tryCreate(path: string, holder: string): Promise<boolean> {
  // Written first and linked then, so that nobody ever reads an empty lock.
  const own = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  const file = await open(own, 'wx');
  // Before the lock is there to be read.
  held.add(holder);
  try {
    await file.writeFile(holder);
    await link(own, path);
    return true;
  } catch (error) {
    held.delete(holder);
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await file.close();
    await rm(own, { force: true });
  }
}

/** Holders on other machines (a shared folder) cannot be asked, so they count as alive. */
function isAlive(holder: string): boolean {
  const [pid = '', host] = holder.split(' ');
  if (host !== hostname()) return true;
  if (Number(pid) === process.pid) return held.has(holder);
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Moves the lock aside and puts it back if it is not the stale one that was read: someone else was faster. */
async function removeStale(path: string, stale: string): Promise<void> {
  const aside = `${path}.${process.pid}.stale`;
  const moved = await rename(path, aside).then(
    () => true,
    () => false,
  );
  if (!moved) return;
  const found = await readFile(aside, 'utf8');
  if (found !== stale) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
}

async function release(path: string, holder: string): Promise<void> {
  const found = await readFile(path, 'utf8').catch(() => undefined);
  if (found === holder) await rm(path, { force: true });
  held.delete(holder);
}
