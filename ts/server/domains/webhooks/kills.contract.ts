/** What holds of deliveries when their process is killed at any moment. SVC_TEST_KILLS sets how many times. */
import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { random } from '../../../../test/test-support/seed.ts';
import { type NewDatabase, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { killRounds } from '../../platform/storage/test-support/kill-rounds.ts';
import { LineReader } from '../../platform/storage/test-support/line-reader.ts';
import { openReceiver } from './test-support/receiver.ts';
import type { WorkerLine } from './test-support/webhook-worker.ts';

const nKills = killRounds();
const LONGEST_LIFE_MS = 150;
const LIFE_LIMIT_MS = 5_000;
const program = new URL('./test-support/webhook-worker.ts', import.meta.url).pathname;

/** The ids of the keys whose events were recorded. */
async function live(t: Test, args: readonly string[], end: (child: ReturnType<typeof spawn>) => void): Promise<string[]> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const output = new LineReader<WorkerLine>(child);
  await output.find(({ recorded }) => recorded !== undefined);
  await wait(random.next() * LONGEST_LIFE_MS);
  end(child);
  await output.ended;
  return output.lines.map(({ recorded }) => recorded);
}

function testWebhookKills(t: Test, newDatabase: NewDatabase): void {
  t.test(
    `after ${nKills} kills every event was delivered, each under one id`,
    { timeout: 60_000 + nKills * LIFE_LIMIT_MS },
    async (t) => {
      const { url, remove } = await newDatabase();
      t.teardown(remove);
      const receiver = await openReceiver(t);
      // Slow enough to be killed in the middle of an attempt.
      receiver.answer = (response) => setTimeout(() => response.writeHead(204).end(), 5);
      const recorded: string[] = [];
      for (let life = 0; life < nKills; life++) {
        recorded.push(...(await live(t, [url, receiver.url, `${life}`], (child) => child.kill('SIGKILL'))));
      }
      recorded.push(...(await live(t, [url, receiver.url, 'last'], (child) => child.stdin?.end())));
      const idsOf = new Map<string, Set<string>>();
      for (const { id, json } of receiver.received) idsOf.set(json.data.id, (idsOf.get(json.data.id) ?? new Set()).add(id));
      t.strictSame(
        recorded.filter((key) => !idsOf.has(key)),
        [],
        'none is lost',
      );
      t.ok(
        [...idsOf.values()].every(({ size }) => size === 1),
        'a repetition has the same id',
      );
      t.comment(`${recorded.length} recorded, ${receiver.received.length} received`);
    },
  );
}

onEachDatabase(testWebhookKills);
