/**
 * kill -9 at any moment loses nothing that was acknowledged, and runs no step of a job again that was. SVC_TEST_KILLS sets how
 * many times the server is killed. Says how long the starts took; how long they may take is measured on a quiet machine.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { type Dialect, type NewDatabase, onEachDatabase } from '../../ts/server/platform/storage/test-support/each-database.ts';
import { sendJson } from '../http.ts';
import { startServer } from '../server.ts';
import { iterations } from '../test-support/iterations.ts';
import { random } from '../test-support/seed.ts';
import { type Acknowledged, countOf, nothingAcknowledged } from './acknowledged.ts';
import { findMissing } from './missing.ts';
import { writeUntilGone } from './writers.ts';

const nKills = iterations(4, 25, 'SVC_TEST_KILLS');
const LONGEST_LIFE_MS = 400;
/** One life of the server with its start, on a busy machine. */
const LIFE_LIMIT_MS = 20_000;

function testKills(t: Test, newDatabase: NewDatabase, dialect: Dialect): void {
  t.test(`after ${nKills} kills everything that was acknowledged is there`, async (t) => {
    const folder = join(t.testdir(), 'node');
    // On SQLite the node makes its own.
    const env = dialect === 'sqlite' ? {} : { SVC_DATABASE_URL: (await newDatabase()).url };
    const acknowledged = nothingAcknowledged();
    const startsMs: number[] = [];
    const start = async () => {
      const began = performance.now();
      const server = await startServer(t, { folder, env });
      startsMs.push(Math.round(performance.now() - began));
      return server;
    };
    for (let i = 0; i < nKills; i += 1) await killOnceWritten(await start(), acknowledged);
    const { url } = await start();
    const { responses, background, conversations, tenants } = acknowledged;
    t.comment(
      `${responses.size} responses, ${background.size} in the background, ${tenants.size} tenants, ${countOf(acknowledged)} writes`,
    );
    t.comment(`ready after ${startsMs.sort((a, b) => a - b)[startsMs.length >> 1]} ms (median), ${startsMs.at(-1)} ms (longest)`);
    t.ok(Math.min(responses.size, background.size, conversations.size, tenants.size) > 0, 'each kind was acknowledged');
    t.strictSame(await findMissing(url, acknowledged), []);
    t.match(await sendJson(url, '/api/v1/identity/audit/verify'), { broken_at: null }, 'the chain of the audit log is whole');
  });
}

/** Lets the server live for a random time behind the first write that it acknowledges. */
async function killOnceWritten(server: Awaited<ReturnType<typeof startServer>>, acknowledged: Acknowledged): Promise<void> {
  const nBefore = countOf(acknowledged);
  const writing = writeUntilGone(server, acknowledged);
  while (countOf(acknowledged) === nBefore) await wait(5);
  await wait(random.next() * LONGEST_LIFE_MS);
  await server.stop('SIGKILL');
  await writing;
}

onEachDatabase(testKills, { timeoutMs: 60_000 + nKills * LIFE_LIMIT_MS });
