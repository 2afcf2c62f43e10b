/** What holds of recorded events when their process is killed at any moment. SVC_TEST_KILLS sets how many times. */
import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { random } from '../../../../test/test-support/seed.ts';
import { type NewDatabase, onEachDatabase } from '../storage/test-support/each-database.ts';
import { killRounds } from '../storage/test-support/kill-rounds.ts';
import { LineReader } from '../storage/test-support/line-reader.ts';
import type { EventLine } from './test-support/event-worker.ts';

const nKills = killRounds();
const LONGEST_LIFE_MS = 100;
/** A life of the process, its start included, on a busy machine. */
const LIFE_LIMIT_MS = 5_000;
/** More than one life records. */
const IDS_A_LIFE = 100_000;
const program = new URL('./test-support/event-worker.ts', import.meta.url).pathname;

async function live(t: Test, url: string, life: number, end: (child: ReturnType<typeof spawn>) => void): Promise<EventLine[]> {
  const child = spawn(process.execPath, [program, url, String(life * IDS_A_LIFE)], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const output = new LineReader<EventLine>(child);
  await output.find(({ recorded }) => recorded !== undefined);
  await wait(random.next() * LONGEST_LIFE_MS);
  end(child);
  await output.ended;
  return output.lines;
}

function testEventKills(t: Test, newDatabase: NewDatabase): void {
  t.setTimeout(60_000 + nKills * LIFE_LIMIT_MS);

  t.test(`after ${nKills} kills every recorded event was delivered, in order`, async (t) => {
    const { url, remove } = await newDatabase();
    t.teardown(remove);
    const lines: EventLine[] = [];
    for (let life = 0; life < nKills; life += 1) lines.push(...(await live(t, url, life, (child) => child.kill('SIGKILL'))));
    lines.push(...(await live(t, url, nKills, (child) => child.stdin?.end())));
    const recorded = lines.flatMap(({ recorded }) => recorded ?? []);
    const delivered = lines.flatMap(({ delivered }) => delivered ?? []);
    const got = new Set(delivered);
    t.strictSame(
      recorded.filter((id) => !got.has(id)),
      [],
      'none is lost',
    );
    const firstTimes = [...got];
    t.strictSame(
      firstTimes,
      firstTimes.toSorted((a, b) => a - b),
      'each came after those before it',
    );
    t.ok(delivered.length - got.size <= nKills, 'a kill repeats one delivery at most');
    t.comment(`${recorded.length} recorded, ${delivered.length} delivered, ${delivered.length - got.size} of them again`);
  });
}

onEachDatabase(testEventKills);
