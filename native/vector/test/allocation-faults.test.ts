/** An allocation or a thread of our own code fails, wherever: what is refused says so, and the index is whole afterwards. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { VectorIndex, type VectorIndexOptions } from '../../../ts/server/native/vector.ts';
import { failAtPlaces, type Outcome, outcomeOf, tried } from '../../llama/test/fault-places.ts';
import { type Faults, loadedFaults, noFaults, runUnderFaults } from '../../llama/test/faults.ts';
import { noReferences } from '../../llama/test/reference.ts';
import { clusteredVectors, vectorAt } from './vectors.ts';

const dimensions = 12;
const count = 300;
const vectors = clusteredVectors(count, dimensions, 3);
const keys = Float64Array.from({ length: count }, (_, id) => id);
const faults = loadedFaults();

if (faults) await testUnder(faults);
else t.test('under faults', { skip: noFaults() || noReferences() }, (t) => runUnderFaults(t, import.meta.filename));

/** Whether the index finds each of the vectors under its key. */
async function isWhole(index: VectorIndex): Promise<boolean> {
  const found = await index.searchAll(vectors, 1);
  return index.stats().nVectors === count && found.every(([best], id) => best?.id === id);
}

function stepsOf(index: VectorIndex, path: string): (() => Promise<unknown>)[] {
  return [
    () => index.addAll(keys, vectors),
    async () => index.add(7, vectorAt(vectors, 7, dimensions)),
    () => index.link(),
    async () => index.search(vectorAt(vectors, 9, dimensions), 5),
    () => index.searchAll(vectors.subarray(0, 4 * dimensions), 5, Float64Array.of(1, 2, 3)),
    () => index.removeAll(Float64Array.of(3)),
    () => index.addAll(Float64Array.of(3), vectorAt(vectors, 3, dimensions)),
    () => index.compact(),
    () => index.save(path),
  ];
}

async function testUnder(faults: Faults): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-faults-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'index');
  const shapes: VectorIndexOptions[] = [
    { dimensions, exactBelow: 20 },
    { dimensions, exactBelow: 20, storage: 'b1', exactFolder: folder },
  ];
  for (const kind of ['allocation', 'thread'] as const) {
    for (const shape of shapes) {
      t.test(`while an index is used, ${shape.storage ?? 'f16'}: ${kind}`, async (t) => {
        let index: VectorIndex | undefined;
        const bursts = kind === 'thread' ? [1, 1_000] : [1, 4];
        /** What may have failed is done again, and then the index is whole, as is the one that was saved. */
        const findFault = async () => {
          if (!index) return undefined;
          await index.addAll(keys, vectors);
          await index.link();
          await index.save(path);
          const saved = await VectorIndex.open(path, shape, { isViewed: true });
          const fault = (await isWhole(index)) && (await isWhole(saved)) ? undefined : JSON.stringify(index.stats());
          await Promise.all([index.close(), saved.close()]);
          return fault;
        };
        await failAtPlaces(t, faults, { kind, nPlaces: 20, bursts, mostHurt: 1, findFault }, async () => {
          const [made, created] = await tried(() => new VectorIndex(shape));
          index = created;
          const outcomes = [made];
          for (const step of created ? stepsOf(created, path) : []) outcomes.push(await outcomeOf(step));
          return outcomes;
        });
      });

      t.test(`while an index is made, opened and closed, ${shape.storage ?? 'f16'}: ${kind}`, async (t) => {
        const bursts = kind === 'thread' ? [1, 1_000] : [1, 4];
        await failAtPlaces(t, faults, { kind, nPlaces: 10, bursts, mostHurt: 1 }, async () => {
          const outcomes: Outcome[] = [];
          const makers = [
            () => new VectorIndex(shape),
            () => VectorIndex.open(path, shape),
            () => VectorIndex.open(path, shape, { isViewed: true }),
          ];
          for (const make of makers) {
            const [outcome, index] = await tried<VectorIndex>(make);
            outcomes.push(outcome);
            if (index) outcomes.push(await outcomeOf(() => index.close()));
          }
          return outcomes;
        });
      });
    }
  }
}
