/** What a full disk may not do to a knowledge base, on either database. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { until } from '../../platform/jobs/test-support/open-jobs.ts';
import { type Dialect, type NewDatabase, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { openKnowledgeBed } from './test-support/knowledge-bed.ts';
import { listOrphans, listWhole } from './test-support/whole-documents.ts';

/** Of the disk with the database and nothing else. */
const DISK_MIB = { sqlite: 8, postgres: 24 };
const MORE_MIB = 48;
const MOST_ADDED = 5_000;

function isMounted(folder: string, mib: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m`, 'tmpfs', folder], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

function testFullDisk(t: Test, newDatabase: NewDatabase, dialect: Dialect): void {
  const mib = DISK_MIB[dialect];
  // Not tap's own folder, which tap deletes before a teardown can unmount what is in it.
  const disk = mkdtempSync(join(tmpdir(), 'svc-full-disk-'));
  const skip = !isMounted(disk, mib) && 'mounting a tmpfs needs root';
  t.teardown(() => {
    if (!skip) execFileSync('umount', ['-l', disk]);
    rmSync(disk, { recursive: true });
  });

  t.test(
    'on a full disk documents are refused, none that was acknowledged is lost, and it goes on with space',
    { skip },
    async (t) => {
      const noDatabase = () => Promise.reject(new Error('it has a database'));
      const bed = await openKnowledgeBed(t, noDatabase, { url: (await newDatabase(disk)).url });
      const textOf = (n: number) => `Document ${n} tells of sand, wind and the lighthouse. `.repeat(400);
      const acknowledged: number[] = [];
      const refusals: object[] = [];
      const add = async (n: number) => {
        const { status, body } = await bed.add(`file-${n}`, textOf(n));
        if (status === 201) acknowledged.push(n);
        else refusals.push({ status, ...body });
      };
      for (let n = 0; refusals.length === 0 && n < MOST_ADDED; n += 4) await Promise.all([n, n + 1, n + 2, n + 3].map(add));
      t.ok(acknowledged.length > 10);
      t.match(refusals[0], { status: 503, error: 'storage_unavailable' });
      const { status } = await bed.search('lighthouse', { top_k: 1 });
      t.ok(status === 200 || status === 503, 'a search is answered, or refused as plainly');
      execFileSync('mount', ['-o', `remount,size=${mib + MORE_MIB}m`, disk]);
      await until(
        () => bed.add('after', textOf(MOST_ADDED)),
        (answer) => answer.status < 300,
      );
      const { documents, twice } = await listWhole(bed);
      t.strictSame(twice, []);
      t.strictSame(
        acknowledged.filter((n) => documents.get(`file-${n}`) !== n),
        [],
        'each is there, whole',
      );
      t.equal(documents.get('after'), MOST_ADDED);
      t.strictSame(await listOrphans(bed), []);
      t.match(await bed.search('lighthouse', { top_k: 1 }), { status: 200, body: { results: [{}] } });
    },
  );
}

onEachDatabase(testFullDisk, { hasOwnServer: true, timeoutMs: 120_000 });
