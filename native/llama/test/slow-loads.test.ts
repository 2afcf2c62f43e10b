/** Two large models are read from a slow disk: files and names, which share libuv's threads, are as quick as before. */
import { lookup } from 'node:dns/promises';
import { readFile, stat } from 'node:fs/promises';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { writeHollowModel } from '../../../models/random/random-model.ts';
import { iterations } from '../../../test/test-support/iterations.ts';
import { LlamaModel } from '../../../ts/server/native/llama.ts';
import { type Faults, loadedFaults, noFaults, runUnderFaults } from './faults.ts';
import { noReferences } from './reference.ts';

/** Some ten gigabytes of f16. What is read of them in the time takes memory, the rest none. */
const shape = { nLayer: 23, nEmbd: 4_096, nHead: 32, nHeadKv: 8, nFeedForward: 14_336, nContext: 4_096 };
const mebibytesPerSecond = 32;
const bytesPerSecond = mebibytesPerSecond * 2 ** 20;
const seconds = iterations(3, 60);
const neededBytes = 2 * bytesPerSecond * seconds + 2 ** 30;

const faults = loadedFaults();
const calls = {
  stat: () => stat(import.meta.filename),
  read: () => readFile(import.meta.filename),
  lookup: () => lookup('localhost'),
};

/** How long each call waited, milliseconds, in order of size. */
async function waits(call: () => Promise<unknown>, count: number): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < count; i++) {
    const asked = performance.now();
    await call();
    all.push(performance.now() - asked);
    await setTimeout(5);
  }
  return all.sort((a, b) => a - b);
}

const at = (sorted: readonly number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;

/** How long each kind of call waits while nothing is loaded. */
async function waitsAlone(): Promise<Map<string, number[]>> {
  const all = new Map<string, number[]>();
  for (const [name, call] of Object.entries(calls)) all.set(name, await waits(call, 100));
  return all;
}

/** A model that is read for as long as the test lasts. */
function load(path: string) {
  const client = new AbortController();
  const ended = LlamaModel.load({ path, mmap: false }, { signal: client.signal }).then(
    () => 'loaded',
    ({ code }: { code: string }) => code,
  );
  return { stop: () => client.abort(), ended };
}

function whyNot(): string | false {
  if (freemem() < neededBytes) return `needs ${Math.ceil(neededBytes / 2 ** 30)} GiB of free memory`;
  return noFaults() || noReferences();
}

if (faults === undefined) {
  // As many threads as loads: were these to take them, nothing else would ever have one.
  t.test('two slow loads of ten gigabytes and files and names beside them', { skip: whyNot() }, (t) =>
    runUnderFaults(t, import.meta.filename, { UV_THREADPOOL_SIZE: '2' }),
  );
} else runSlowLoads(faults);

function runSlowLoads(slow: Faults): void {
  t.test('files and names keep their latency while two models load', async (t) => {
    const folder = t.testdir();
    const paths = ['one.gguf', 'other.gguf'].map((name) => join(folder, name));
    for (const path of paths) await writeHollowModel(path, shape);
    t.ok((await stat(paths[0] ?? '')).size > 10e9, 'ten gigabytes');
    const before = await waitsAlone();

    slow.arm('read', bytesPerSecond, 0);
    const loads = paths.map(load);
    while (slow.seen() < 10) await setTimeout(20);
    const begun = slow.seen();
    const until = performance.now() + seconds * 1000;
    const during = new Map<string, number[]>(Object.keys(calls).map((name) => [name, []]));
    while (performance.now() < until)
      for (const [name, call] of Object.entries(calls)) during.get(name)?.push(...(await waits(call, 20)));

    const read = slow.seen() - begun;
    t.ok(
      read > seconds * mebibytesPerSecond && read < 3 * seconds * mebibytesPerSecond,
      `${read} MiB of both were read meanwhile`,
    );
    for (const { stop } of loads) stop();
    // A load looks whether it is wanted when it has read a tensor.
    slow.arm('read', 10 * 2 ** 30, 0);
    t.strictSame(await Promise.all(loads.map(({ ended }) => ended)), ['load_aborted', 'load_aborted']);
    // What else runs on the machine comes and goes.
    const after = await waitsAlone();
    for (const [name, unsorted] of during) {
      const alone = (share: number) => Math.max(...[before, after].map((all) => at(all.get(name) ?? [], share)));
      const busy = unsorted.sort((a, b) => a - b);
      const told = `${name}: ${alone(0.5).toFixed(2)} and ${alone(0.99).toFixed(1)} ms alone, ${at(busy, 0.5).toFixed(2)} and ${at(busy, 0.99).toFixed(1)} ms beside`;
      t.ok(at(busy, 0.5) < 3 * alone(0.5) + 2 && at(busy, 0.99) < 3 * alone(0.99) + 50, told);
    }
  });
}
