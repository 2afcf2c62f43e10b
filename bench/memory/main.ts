/**
 * `npm run bench -- memory`: recalls of an account with 10,000 memories, beside the embedding of their questions: a model that only
 * counts words embeds them in no time. It needs no server: the module runs in this process, over a database on the disk.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { SeededRandom } from '../../models/random/seeded-random.ts';
import { episodesSection } from '../../ts/server/domains/memory/files/filed-memories.ts';
import { writeMemoryFile } from '../../ts/server/domains/memory/files/memory-file.ts';
import { ann, openMemory } from '../../ts/server/domains/memory/test-support/memory-bed.ts';
import { wordModel } from '../../ts/server/domains/retrieval/test-support/word-model.ts';

const N_MEMORIES = 10_000;
const N_RECALLS = 500;
const N_WARM = 50;
const DIMENSIONS = 384;
const GOAL_MS = 30;

const PEOPLE = ['my sister', 'my boss', 'the neighbour', 'my doctor', 'Clara', 'Ben', 'the team', 'my landlord'];
const ACTS = ['likes', 'bought', 'repaired', 'forgot', 'painted', 'sold', 'ordered', 'returned'];
const THINGS = ['violin', 'bicycle', 'kettle', 'invoice', 'garden', 'contract', 'lamp', 'carpet', 'camera', 'heater'];
const PLACES = ['Dresden', 'Oslo', 'Rome', 'the office', 'the cellar', 'Leipzig', 'the library', 'Porto'];

const random = new SeededRandom(1);
const one = (words: readonly string[]): string => words[random.integer(words.length)] ?? '';
const teardowns: (() => unknown)[] = [];
const t = { teardown: (each: () => unknown) => void teardowns.push(each) } as unknown as Test;
const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-memory-'));
try {
  const model = Object.assign(wordModel(), { dimensions: DIMENSIONS });
  const settings = { 'memory.most_memories': 2 * N_MEMORIES };
  const bed = await openMemory(t, { dataDir, model, settings });
  const memories = Array.from({ length: N_MEMORIES }, (_, i) => ({
    id: `mem_0199a3b2-0000-7000-8000-${String(i).padStart(12, '0')}`,
    kind: 'fact' as const,
    text: `${one(PEOPLE)} ${one(ACTS)} the ${one(THINGS)} number ${i} in ${one(PLACES)}`,
    validFrom: i,
    recordedAt: i,
  }));
  const folder = join(dataDir, 'memory', 'red');
  mkdirSync(folder, { recursive: true });
  const headers = { 'x-as': JSON.stringify(ann) };
  const begun = performance.now();
  const bytes = episodesSection(memories);
  writeMemoryFile(join(folder, 'all.exmm'), [{ kind: 'episodes', name: 'user:ann', bytes }], 1);
  const loaded = await bed.send('POST', '/api/v1/retrieve/load', { headers, body: { file: 'all.exmm', mode: 'import' } });
  if (loaded.body.loaded !== N_MEMORIES) throw new Error(loaded.text);
  console.log(`${N_MEMORIES} memories imported in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  const times: number[] = [];
  let nFound = 0;
  for (let i = 0; i < N_WARM + N_RECALLS; i++) {
    const question = `Who ${one(ACTS)} the ${one(THINGS)} number ${random.integer(N_MEMORIES)} in ${one(PLACES)}?`;
    const from = performance.now();
    const { memories: recalled } = await bed.recall(question);
    if (i < N_WARM) continue;
    times.push(performance.now() - from);
    nFound += Number(recalled.length > 0);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
  const p99 = at(0.99);
  console.log(`${N_RECALLS} recalls, ${nFound} found something: p50 ${at(0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  const isHeld = p99 <= GOAL_MS;
  console.log(`${isHeld ? 'held  ' : 'missed'} p99 ${p99.toFixed(1)} ms beside the embedding, at most ${GOAL_MS} ms`);
  console.log(`${Number(isHeld)} goals held, ${Number(!isHeld)} missed`);
} finally {
  for (const teardown of teardowns.toReversed()) await teardown();
  rmSync(dataDir, { recursive: true, force: true });
}
