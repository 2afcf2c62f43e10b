/** Messages of a node that is killed at any moment, on both databases, over a provider that fails. SVC_TEST_KILLS sets how many times. */
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { iterations } from '../../../../test/test-support/iterations.ts';
import { random } from '../../../../test/test-support/seed.ts';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { httpServer } from '../../platform/network/test-support/test-servers.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { LineReader } from '../../platform/storage/test-support/line-reader.ts';
import type { CommLine } from './test-support/message-worker.ts';

const nKills = iterations(3, 20, 'SVC_TEST_KILLS');
const LONGEST_LIFE_MS = 200;
const LIFE_LIMIT_MS = 20_000;
/** One request of so many ends without an answer, before or after the provider has taken it. */
const FAULT_EVERY = 12;
const program = new URL('./test-support/message-worker.ts', import.meta.url).pathname;

function startWorker(t: Test, args: readonly string[]) {
  // Starting is most of what a life costs: what was compiled is kept for the next one.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'svc-compiled-message-worker') };
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'], env });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, output: new LineReader<CommLine>(child) };
}

/** Keeps what it accepted by the mark of the message: the ids of requests that told one. */
async function faultyProvider(t: Test) {
  const accepted = new Map<string, string[]>();
  const { origin } = await httpServer(t, async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const isCut = random.integer(FAULT_EVERY) === 0;
    if (isCut && random.integer(2) === 0) return void request.socket.destroy();
    const [mark = ''] = /mark-[\d-]+-/.exec(Buffer.concat(chunks).toString()) ?? [];
    accepted.set(mark, [...(accepted.get(mark) ?? []), String(request.headers['webhook-id'] ?? '')]);
    if (isCut) return void request.socket.destroy();
    response.writeHead(204).end();
  });
  return { origin, accepted };
}

function testKills(t: Test, newDatabase: NewDatabase): void {
  t.test(`after ${nKills} kills no message was accepted twice, and each has an end`, async (t) => {
    const { origin, accepted } = await faultyProvider(t);
    const args = [await newUrl(t, newDatabase), newFolder(t), origin];
    const lines: CommLine[] = [];
    for (let i = 0; i < nKills; i += 1) {
      const { child, output } = startWorker(t, args);
      await output.find(({ queued }) => queued !== undefined);
      await wait(random.next() * LONGEST_LIFE_MS);
      child.kill('SIGKILL');
      await output.ended;
      lines.push(...output.lines);
    }
    const last = startWorker(t, args);
    last.child.stdin?.end();
    const { ended = {} } = await last.output.find((line) => line.ended !== undefined);
    await last.output.ended;
    lines.push(...last.output.lines);
    const queued = lines.filter(({ queued: mark }) => mark !== undefined);
    const ofKind = (kind: string): string[] => queued.flatMap((line) => (line.kind === kind ? (line.queued ?? []) : []));
    const times = (mark: string): number => accepted.get(mark)?.length ?? 0;
    t.strictSame(
      ofKind('sms').filter((mark) => times(mark) > 1),
      [],
      'where the provider cannot know a repetition there was none',
    );
    t.strictSame(
      ofKind('webhook').filter((mark) => new Set(accepted.get(mark)).size !== 1),
      [],
      'where it can, each was taken, under one id',
    );
    const nEnded = Object.values(ended).reduce((sum, n) => sum + n, 0);
    t.ok(nEnded >= queued.length, `${nEnded} ended, none is lost`);
    t.strictSame(
      Object.keys(ended).filter((state) => !['sent', 'outcome_unknown'].includes(state)),
      [],
      'each is sent, or says that nobody knows',
    );
    const nUnsent = ofKind('sms').filter((mark) => times(mark) === 0).length;
    t.ok(nUnsent <= (ended['outcome_unknown'] ?? 0), 'one that was not accepted is unknown');
    t.comment(`${nEnded} messages, ${JSON.stringify(ended)}, ${nUnsent} of them not accepted`);
  });
}

onEachDatabase(testKills, { timeoutMs: 120_000 + nKills * LIFE_LIMIT_MS });
