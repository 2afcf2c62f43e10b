/** Slots: clusters are found, sequences learned, and sections of anybody's bytes refused. */
import t from 'tap';
import { iterations } from '../../../../../test/test-support/iterations.ts';
import { random } from '../../../../../test/test-support/seed.ts';
import { learnCodebook } from './codebook.ts';
import { foreseenSlots, trainSlotModel } from './slot-model.ts';
import { readSlotSection, slotSection } from './slot-section.ts';

const pick = (n: number): number => Math.floor(random.next() * n);

/** A vector of length 1 near one of the axes. */
function near(axis: number, dimensions = 8): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, (_, i) => (i === axis ? 1 : 0.1 * (random.next() - 0.5)));
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / length);
}

t.test('memories that are near to each other are one slot, in the order of their time', async (t) => {
  const order = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2];
  const members = order.map((axis, at) => ({ at, vector: near(axis) }));
  const codebook = learnCodebook(members.toReversed(), 3);
  t.strictSame(codebook?.sizes, [6, 6, 6]);
  const names = new Map(codebook?.sequence.slice(0, 3).map((slot, i) => [slot, i]));
  t.strictSame(
    codebook?.sequence.map((slot) => names.get(slot)),
    order,
  );
  t.same(learnCodebook(members, 3), codebook, 'one seed gives one codebook');
  t.equal(learnCodebook(members.slice(0, 3), 3), undefined, 'three are too few');
  const alone = learnCodebook([...members, { at: 99, vector: near(7) }], 3);
  t.ok(
    alone?.sizes.every((size) => size > 1),
    'a memory by itself is in no slot: its centre would be its vector',
  );
});

t.test('an xLSTM is kept where a sequence depends on more than the last slot', async (t) => {
  // After 0 comes what came before it: a rule that looks at the last slot alone cannot know.
  const sequence = Array.from({ length: 600 }, (_, i) => [1, 0, 1, 2, 0, 2][i % 6] ?? 0);
  const model = trainSlotModel(sequence, 3, { seed: 5 });
  t.equal(model.method, 'xlstm', JSON.stringify(model.scores));
  t.ok((model.scores.xlstm ?? 9) < 0.5 * (model.scores.successor ?? 0));
  const steps = foreseenSlots(model, sequence, sequence, 30, 1).map(({ slot }) => slot);
  const right = steps.filter((slot, i) => slot === sequence[i % 6]).length;
  t.ok(right > 20, `${steps}`);
  const chance = Array.from({ length: 600 }, () => pick(4));
  t.throws(() => foreseenSlots(trainSlotModel(chance, 4, { seed: 5, endsAt: 0 }), chance, [4], 1, 1), RangeError);
});

t.test('sections come back as they were written, and others are refused', async (t) => {
  const members = Array.from({ length: 40 }, (_, at) => ({ at, vector: near(at % 4) }));
  const codebook = learnCodebook(members, 1);
  if (codebook === undefined) return t.fail('there are slots');
  const model = trainSlotModel(codebook.sequence, codebook.sizes.length, { seed: 1 });
  const bytes = slotSection({ codebook, model });
  t.same(readSlotSection(bytes), { codebook, model });
  for (let i = 0; i < iterations(500, 20_000); i++) {
    const mutated = bytes.slice(0, pick(3) === 0 ? pick(bytes.length) : bytes.length);
    for (let n = 0; n <= pick(4) && mutated.length > 0; n++) mutated[pick(mutated.length)] = pick(256);
    const read = readSlotSection(mutated);
    if (read !== undefined) foreseenSlots(read.model, read.codebook.sequence, read.codebook.sequence, 3, 1);
  }
});
