/** What kill -9 may not do to a knowledge base, on either database. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { iterations } from '../../../../test/test-support/iterations.ts';
import { random } from '../../../../test/test-support/seed.ts';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { tenantScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { LineReader } from '../../platform/storage/test-support/line-reader.ts';
import { type KnowledgeBed, openKnowledgeBed } from './test-support/knowledge-bed.ts';
import type { AdderLine } from './test-support/steady-adder.ts';
import { listOrphans, listWhole } from './test-support/whole-documents.ts';

/** Acknowledged in one life, from none on: 200 lives ingest 500 files, however slow the machine is. */
const MOST_OF_LIFE = 5;
const FILES_OF_LIFE = MOST_OF_LIFE / 2;
/** A life without one ends while it starts and makes good what the kill before left. */
const LONGEST_START_MS = 4_000;
/** Several files are under way behind the one that was acknowledged last. */
const LONGEST_REST_MS = 300;

function testKills(t: Test, newDatabase: NewDatabase): void {
  t.test('after kill -9 every acknowledged document is there once, whole, and nothing else is', async (t) => {
    const url = await newUrl(t, newDatabase);
    const dataDir = newFolder(t);
    const lines: AdderLine[] = [];
    const nKills = iterations(2, 12, 'SVC_TEST_KILLS');
    const nFiles = Math.ceil(nKills * FILES_OF_LIFE);
    for (let round = 1; round <= nKills; round++) {
      const begun = Math.max(0, ...lines.map(({ n }) => n));
      const nWanted = round < nKills ? Math.floor(random.next() * (MOST_OF_LIFE + 1)) : Math.max(1, nFiles - lines.length);
      lines.push(...(await killAdder(url, dataDir, begun, nWanted)));
    }
    t.ok(lines.length >= nFiles, `${nKills} kills while ${lines.length} files were ingested`);
    const noDatabase = () => Promise.reject(new Error('it has a database'));
    const bed = await openKnowledgeBed(t, noDatabase, { url, dataDir, leaseMs: 300 });
    const ends = await Promise.all(lines.flatMap(({ job }) => (job === undefined ? [] : [bed.jobEnd(job)])));
    t.strictSame([...new Set(ends.map(({ state }) => state))], ends.length > 0 ? ['done'] : [], 'every job is done');
    await untilIdle(bed);
    const { documents, twice } = await listWhole(bed);
    t.strictSame(twice, [], 'none is there twice');
    const newest = new Map(lines.map(({ source, n }) => [source, n]));
    const lost = [...newest].filter(([source, n]) => (documents.get(source) ?? -1) < n);
    t.strictSame(lost, [], 'each is there as it was acknowledged last, or newer');
    t.strictSame(await listOrphans(bed), [], 'and no passage, vector or part of a document that is not there');
    t.comment(`${lines.length} acknowledged, ${ends.length} of them jobs, ${documents.size} documents`);
    const found = await bed.search('lighthouse', { top_k: 100, mode: 'lexical' });
    t.ok(found.body.results.length > 0);
  });
}

/** A kill may come between a job and its acknowledgement: such ones end too before anything is counted. */
async function untilIdle({ jobs, jobEnd }: KnowledgeBed): Promise<void> {
  for (const { id } of await jobs.list(tenantScope('red'))) await jobEnd(id);
}

/** Kills it at a random moment behind the file that is wanted. */
async function killAdder(url: string, dataDir: string, begun: number, nWanted: number): Promise<AdderLine[]> {
  const program = new URL('test-support/steady-adder.ts', import.meta.url).pathname;
  const adder = spawn(process.execPath, ['--no-warnings', program, url, dataDir, String(begun)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = new LineReader<AdderLine>(adder);
  const exited = once(adder, 'exit');
  if (nWanted > 0) await output.find(() => output.lines.length >= nWanted);
  await wait(random.next() * (nWanted > 0 ? LONGEST_REST_MS : LONGEST_START_MS));
  adder.kill('SIGKILL');
  await Promise.all([exited, output.ended]);
  return [...output.lines];
}

onEachDatabase(testKills, { timeoutMs: 4_000_000 });
