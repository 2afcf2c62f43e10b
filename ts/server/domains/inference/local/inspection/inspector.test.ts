import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { runInspection } from './inspection-process.ts';
import type { InspectionResult } from './inspection-result.ts';
import { Inspector } from './inspector.ts';

const sound: InspectionResult = { usable: true, hasChatTemplate: true, supportsTools: false, supportsThinking: false };
const limits = { timeoutMs: 20_000, memoryMiB: 4096, cpuSeconds: 20 };

function counting(result: InspectionResult): { run: (path: string) => Promise<InspectionResult>; seen: string[] } {
  const seen: string[] = [];
  return {
    seen,
    run: (path) => {
      seen.push(path);
      return Promise.resolve(result);
    },
  };
}

t.test('a file is inspected once, and again after it changed', async (t) => {
  const path = join(t.testdir({ 'a.gguf': 'x' }), 'a.gguf');
  const { run, seen } = counting(sound);
  const inspector = new Inspector(undefined, run, 0);
  await Promise.all([inspector.inspect(path), inspector.inspect(path)]);
  await inspector.inspect(path);
  t.equal(seen.length, 1);
  await utimes(path, 1, 1);
  await inspector.inspect(path);
  t.equal(seen.length, 2);
});

t.test('a result outlives the process, a death does not', async (t) => {
  const folder = t.testdir({ 'good.gguf': 'x', 'dead.gguf': 'y' });
  const cache = join(folder, 'cache.json');
  const inspectGood = (path: string): Promise<InspectionResult> =>
    Promise.resolve(path.endsWith('good.gguf') ? sound : { usable: false, reason: 'killed', isDeath: true });
  const first = new Inspector(cache, inspectGood, 0);
  await first.inspect(join(folder, 'good.gguf'));
  await first.inspect(join(folder, 'dead.gguf'));
  await first.settle();
  const { run, seen } = counting(sound);
  const second = new Inspector(cache, run, 0);
  t.strictSame(await second.inspect(join(folder, 'good.gguf')), sound);
  await second.inspect(join(folder, 'dead.gguf'));
  t.strictSame(seen, [join(folder, 'dead.gguf')]);
});

t.test('another plan is another question', async (t) => {
  const path = join(t.testdir({ 'a.gguf': 'x' }), 'a.gguf');
  const { run, seen } = counting(sound);
  const inspector = new Inspector(undefined, run, 0);
  for (const nCtx of [512, 512, 1024]) await inspector.inspect(path, { engine: { nCtx }, load: {} });
  t.equal(seen.length, 2);
});

t.test('a damaged cache file is no cache', async (t) => {
  const folder = t.testdir({ 'a.gguf': 'x', 'cache.json': '{"format":2,"files":{"' });
  const inspector = new Inspector(join(folder, 'cache.json'), counting(sound).run, 0);
  t.strictSame(await inspector.inspect(join(folder, 'a.gguf')), sound);
  await inspector.settle();
  t.match(await readFile(join(folder, 'cache.json'), 'utf8'), /"usable":true/);
});

t.test('a file that is gone is unusable', async (t) => {
  const inspector = new Inspector(undefined, counting(sound).run, 0);
  t.match(await inspector.inspect('/no/such/file.gguf'), { usable: false });
});

t.test('a file that is no GGUF is refused by the child, with its reason', async (t) => {
  const path = join(t.testdir({ 'a.gguf': 'not a model at all' }), 'a.gguf');
  t.match(await runInspection(path, undefined, limits), { usable: false, reason: /not a GGUF file/ });
});

async function script(folder: string, text: string): Promise<string> {
  const path = join(folder, 'child.mjs');
  await writeFile(path, text);
  return path;
}

t.test('a child that dies is a result, not an exception', async (t) => {
  const child = await script(t.testdir(), 'process.kill(process.pid, "SIGSEGV")');
  t.match(await runInspection('x', undefined, limits, child), { usable: false, reason: /SIGSEGV/, isDeath: true });
});

t.test('a child that hangs is killed', async (t) => {
  const child = await script(t.testdir(), 'setInterval(() => {}, 1000)');
  t.match(await runInspection('x', undefined, { ...limits, timeoutMs: 200 }, child), { usable: false, isDeath: true });
});

t.test('a child that wants too much memory dies alone', async (t) => {
  const hog = 'const held = []; for (let i = 0; i < 4096; i++) held.push(Buffer.alloc(1 << 20, 1)); process.stdout.write("{}")';
  t.match(await runInspection('x', undefined, { ...limits, memoryMiB: 512 }, await script(t.testdir(), hog)), {
    usable: false,
    isDeath: true,
  });
});

t.test('the child sees no secrets', async (t) => {
  process.env['SVC_TEST_SECRET'] = 'secret';
  t.teardown(() => {
    delete process.env['SVC_TEST_SECRET'];
  });
  const child = await script(
    t.testdir(),
    'process.stdout.write(JSON.stringify({usable: false, reason: Object.keys(process.env).join()}))',
  );
  const result = await runInspection('x', undefined, limits, child);
  t.notMatch(result, { reason: /SECRET|HOME/ });
});

t.test('a file that is still being written is left alone until it is quiet', async (t) => {
  const path = join(t.testdir({ 'a.gguf': 'x' }), 'a.gguf');
  const { run, seen } = counting(sound);
  const inspector = new Inspector(undefined, run, 3_600_000);
  const inspected = inspector.inspect(path);
  const first = await Promise.race([inspected, new Promise((resolve) => setTimeout(resolve, 300, 'waiting'))]);
  t.equal(first, 'waiting');
  t.equal(await inspector.find(path), undefined);
  t.equal(seen.length, 0);
  await utimes(path, 1, 1);
  t.strictSame(await inspected, sound);
  t.strictSame(await inspector.find(path), sound);
});

t.test('what a request waits for does not queue behind what nobody waits for', async (t) => {
  const folder = t.testdir({ 'a.gguf': 'x', 'b.gguf': 'x', 'c.gguf': 'x' });
  const path = (name: string) => join(folder, `${name}.gguf`);
  const seen: string[] = [];
  const ends = new Map<string, (result: InspectionResult) => void>();
  const run = (file: string) => {
    seen.push(file);
    return new Promise<InspectionResult>((resolve) => ends.set(file, resolve));
  };
  const begun = async (name: string) => {
    while (!seen.includes(path(name))) await new Promise(setImmediate);
  };
  const inspector = new Inspector(undefined, run, 0);
  const first = inspector.inspect(path('a'), undefined, 'background');
  await begun('a');
  const queued = inspector.inspect(path('b'), undefined, 'background');
  const joined = inspector.inspect(path('a'));
  ends.get(path('a'))?.(sound);
  t.strictSame(await Promise.all([first, joined]), [sound, sound], 'one that runs is shared');
  await begun('b');
  const behind = inspector.inspect(path('c'), undefined, 'background');
  const asked = inspector.inspect(path('c'));
  await begun('c');
  ends.get(path('c'))?.(sound);
  t.strictSame(await asked, sound, 'it did not wait for b');
  ends.get(path('b'))?.(sound);
  await Promise.all([queued, behind]);
  t.strictSame(seen, ['a', 'b', 'c'].map(path), 'each was inspected once');
});
