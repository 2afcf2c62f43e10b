/** One library's process: a job as JSON in its first argument, one sample as JSON on its standard output. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sample } from '../trial.ts';
import { libraries } from './libraries/libraries.ts';
import { searchWhile } from './measure-adding.ts';
import { measureSearches, queriesOf, type SearchFigures } from './measure-searches.ts';
import { type MeasuredSet, readSet } from './measured-set.ts';
import type { CreateLibrary, VectorLibrary } from './vector-library.ts';
import { ADDED_PER_SECOND, type VectorJob, type VectorLoad } from './vector-load.ts';

/** A stored number has two bytes; a vector has 2 * 16 links of four bytes and few above. */
const NUMBER_BYTES = 2;
const LINK_BYTES = 2 * 16 * 4;
const ADDED_AT_ONCE = 10_000;
const REHEARSED = 100;

const { library: name, folder: setFolder, load, seed } = JSON.parse(process.argv[2] ?? '') as VectorJob;
console.log(JSON.stringify(await measure(name, load, await readSet(setFolder, load, seed))));

async function measure(name: string, load: VectorLoad, set: MeasuredSet): Promise<Sample> {
  const { dimensions, stored, queries, allowed, truth } = set;
  const count = stored.length / dimensions;
  const create = libraries[name];
  if (create === undefined) throw new Error(`no library ${name}`);
  await rehearse(create, set);
  const before = memoryBytes();
  const library = await create({ dimensions, capacity: count + ADDED_PER_SECOND * load.addingSeconds });
  const beganAt = performance.now();
  for (let at = 0; at < count; at += ADDED_AT_ONCE)
    await library.add(at, stored.subarray(at * dimensions, (at + ADDED_AT_ONCE) * dimensions));
  await library.settle?.();
  const sample: Sample = {
    addedPerSecond: (count * 1_000) / (performance.now() - beganAt),
    memoryRatio: (memoryBytes() - before) / (count * (dimensions * NUMBER_BYTES + LINK_BYTES)),
  };
  const asked = queriesOf(queries, dimensions);
  for (const [i, one] of allowed.entries()) {
    if (one !== undefined && !library.canFilter) continue;
    const figures = await measureSearches(library, asked, truth[i] ?? [], one);
    Object.assign(sample, named(figures, i === 0 ? '' : `filter${100 * (load.filters[i - 1] ?? 0)}`));
  }
  await measureView(library, asked[0], sample);
  await measureWhileAdding(library, load, set, sample);
  await library.close();
  return sample;
}

/** What a library takes once, whatever it holds, and what reading the set has left are not counted as the vectors' memory. */
async function rehearse(create: CreateLibrary, { dimensions, stored }: MeasuredSet): Promise<void> {
  const library = await create({ dimensions, capacity: REHEARSED });
  await library.add(0, stored.subarray(0, REHEARSED * dimensions));
  await library.settle?.();
  await library.close();
}

function named({ recallAt10, queriesPerSecond, p99Ms }: SearchFigures, prefix: string): Sample {
  const name = (figure: string) => (prefix === '' ? figure : `${prefix}${figure[0]?.toUpperCase()}${figure.slice(1)}`);
  return { [name('recallAt10')]: recallAt10, [name('queriesPerSecond')]: queriesPerSecond, [name('p99Ms')]: p99Ms };
}

async function measureView(library: VectorLibrary, query: Float32Array | undefined, sample: Sample): Promise<void> {
  if (library.save === undefined || library.view === undefined || query === undefined) return;
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-vectors-'));
  try {
    await library.save(join(folder, 'index'));
    const beganAt = performance.now();
    await library.view(join(folder, 'index'), query);
    sample['viewMs'] = performance.now() - beganAt;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Last, since what is added stays. */
async function measureWhileAdding(library: VectorLibrary, load: VectorLoad, set: MeasuredSet, sample: Sample): Promise<void> {
  const { addingSeconds } = load;
  if (addingSeconds === 0) return;
  const { dimensions, stored, queries } = set;
  const asked = queriesOf(queries, dimensions);
  sample['idleP99Ms'] = await searchWhile(library, asked, addingSeconds);
  const vectors = stored.slice(0, ADDED_PER_SECOND * addingSeconds * dimensions);
  const adding = { firstKey: stored.length / dimensions, vectors, dimensions };
  sample['addingP99Ms'] = await searchWhile(library, asked, addingSeconds, adding);
}

/** What the system cannot take back: pages of mapped files it can. Elsewhere than on Linux, all that is resident. */
function memoryBytes(): number {
  // Pages of what was collected are given back by the collection after it.
  for (let i = 0; i < 3; i++) globalThis.gc?.();
  try {
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1_024;
  } catch {
    return process.memoryUsage.rss();
  }
}
