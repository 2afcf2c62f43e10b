/** Holds the lock of the data folder that its argument names, until it is killed. Prints `locked`, or why it could not. */
import { DataDirLock } from '../data-dir-lock.ts';

try {
  await DataDirLock.acquire(process.argv[2] ?? '', 'svc test');
  process.stdout.write('locked\n');
  setInterval(() => undefined, 60_000);
} catch (error) {
  process.stdout.write(`${(error as Error).message}\n`);
}
