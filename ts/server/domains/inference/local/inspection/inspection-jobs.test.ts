import { appendFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ANONYMOUS, scopeOf } from '../../../../platform/http/principal.ts';
import { openJobs, until } from '../../../../platform/jobs/test-support/open-jobs.ts';
import { noJobs, silentLog } from '../../../../platform/module/test-support/scripted-context.ts';
import { newSqliteDatabase } from '../../../../platform/storage/test-support/each-database.ts';
import type { StoredModel } from '../../models/model-source.ts';
import { InspectionJobs } from './inspection-jobs.ts';
import type { InspectionResult } from './inspection-result.ts';
import { Inspector } from './inspector.ts';

const sound: InspectionResult = { usable: true, hasChatTemplate: true, supportsTools: true, supportsThinking: false };
const broken: InspectionResult = { usable: false, reason: 'It is broken.' };
const scope = scopeOf(ANONYMOUS);

function modelsIn(folder: string, ...ids: string[]): StoredModel[] {
  const facts = { kind: 'chat', sizeBytes: 1, architecture: 'llama', family: 'llama', nCtxTrain: 512, createdAt: 5 } as const;
  return ids.map((id) => ({ ...facts, id, path: join(folder, `${id}.gguf`) }));
}

async function open(t: Test, inspect: (id: string) => Promise<InspectionResult | undefined>, quietMs = 0) {
  const { url, remove } = await newSqliteDatabase();
  t.teardown(remove);
  const { jobs } = await openJobs(t, url);
  const inspector = new Inspector(undefined, async () => sound, quietMs);
  const inspections = new InspectionJobs({ jobs, inspector, inspect, onUsable: () => {}, log: silentLog });
  await jobs.start();
  inspections.start();
  const ended = (n: number) =>
    until(
      async () => (await jobs.list(scope)).filter(({ endedAt }) => endedAt !== undefined),
      ({ length }) => length >= n,
    );
  return { jobs, inspections, ended };
}

t.test('each new file is a job, one runs at a time, and its result is kept', async (t) => {
  const folder = t.testdir({ 'a.gguf': 'x', 'b.gguf': 'x', 'c.gguf': 'x' });
  const results = new Map<string, InspectionResult>([
    ['a', sound],
    ['b', broken],
  ]);
  let [nRunning, nMost] = [0, 0];
  const { inspections, ended } = await open(t, async (id) => {
    nMost = Math.max(nMost, ++nRunning);
    await new Promise(setImmediate);
    nRunning--;
    return results.get(id);
  });
  for (const stored of modelsIn(folder, 'a', 'b', 'c')) inspections.announce(stored);
  const jobs = (await ended(3)).sort((a, b) => (JSON.stringify(a.input) < JSON.stringify(b.input) ? -1 : 1));
  t.match(jobs, [
    { kind: 'inference.inspect', input: { model: 'a', file: 'a.gguf' }, result: { usable: true, tools: true, thinking: false } },
    { input: { model: 'b' }, state: 'done', result: { usable: false, reason: 'It is broken.' } },
    { input: { model: 'c' }, result: { found: false } },
  ]);
  t.equal(nMost, 1);
});

t.test('a state of a file is announced once, however often it is listed, and again when it has changed', async (t) => {
  const [stored] = modelsIn(t.testdir({ 'a.gguf': 'x' }), 'a') as [StoredModel];
  const { jobs, inspections, ended } = await open(t, async () => sound);
  inspections.announce(stored);
  inspections.announce(stored);
  await ended(1);
  inspections.announce(stored);
  await appendFile(stored.path, 'y');
  await until(
    () => {
      inspections.announce(stored);
      return jobs.list(scope);
    },
    ({ length }) => length === 2,
  );
  await ended(2);
  t.equal((await jobs.list(scope)).length, 2);
});

t.test('a file that is being copied becomes a job when it is quiet', async (t) => {
  const folder = t.testdir({ 'copied.gguf': 'x', 'old.gguf': 'x' });
  const [copied, old] = modelsIn(folder, 'copied', 'old') as [StoredModel, StoredModel];
  const { jobs, inspections, ended } = await open(t, async () => sound, 3_600_000);
  await utimes(old.path, 1, 1);
  inspections.announce(copied);
  inspections.announce(old);
  await ended(1);
  t.match(await jobs.list(scope), [{ input: { model: 'old' } }], 'and nothing waits for it');
  await utimes(copied.path, 1, 1);
  await ended(2);
});

t.test('without a database a file is inspected all the same', async (t) => {
  const [stored] = modelsIn(t.testdir({ 'a.gguf': 'x' }), 'a') as [StoredModel];
  const inspected = Promise.withResolvers<string>();
  const inspect = async (id: string) => {
    inspected.resolve(id);
    return sound;
  };
  const inspector = new Inspector(undefined, async () => sound, 0);
  new InspectionJobs({ jobs: noJobs, inspector, inspect, onUsable: () => {}, log: silentLog }).announce(stored);
  t.equal(await inspected.promise, 'a');
});

t.test('a cancelled job does not wait for its child process', async (t) => {
  const [stored] = modelsIn(t.testdir({ 'a.gguf': 'x' }), 'a') as [StoredModel];
  const { jobs, inspections, ended } = await open(t, () => new Promise(() => {}));
  inspections.announce(stored);
  const [job] = await until(
    () => jobs.list(scope),
    ([first]) => first?.state === 'running',
  );
  await jobs.cancel(scope, job?.id ?? '');
  t.match(await ended(1), [{ state: 'cancelled' }]);
});
