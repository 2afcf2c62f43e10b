/** World models on made series: a network is kept where it wins, and comes back from its section as it was. */
import t from 'tap';
import { SeededRandom } from '../../../../../models/random/seeded-random.ts';
import { random } from '../../../../../test/test-support/seed.ts';
import { modelSection, readModelSection } from './model-section.ts';
import { stepsOf } from './series-steps.ts';
import { foreseenSteps, trainWorldModel } from './world-model.ts';

// Several networks are trained.
t.setTimeout(180_000);

const HOUR_MS = 3_600_000;

function series(n: number, valueAt: (i: number) => number) {
  const steps = stepsOf(Array.from({ length: n }, (_, i) => ({ ts: i * HOUR_MS, value: valueAt(i) })));
  if (steps === undefined) throw new Error('the series has no steps');
  return steps;
}

t.test('points become means of equal steps, gaps are filled, and what has no step is refused', async (t) => {
  const given = [0, 0.5, 1, 4, 5, 6, 7, 8].map((hour) => ({ ts: 10 * HOUR_MS + hour * HOUR_MS, value: hour }));
  const steps = stepsOf(given.reverse());
  t.match(steps, { start: 10 * HOUR_MS, stepMs: HOUR_MS });
  t.strictSame([...(steps?.values ?? [])], [0.25, 1, 1, 1, 4, 5, 6, 7, 8]);
  t.equal(stepsOf(given.slice(0, 2)), undefined);
  t.equal(stepsOf([1, 2, 3].map((value) => ({ ts: 7, value }))), undefined);
  t.equal(stepsOf([0, 1, 2, 900, 901].map((hour) => ({ ts: hour * HOUR_MS, value: hour }))), undefined, 'more gaps than points');
});

t.test('a network is kept only where it foresees better than each rule', async (t) => {
  // The noise is the same in each run: in some of any noise a rule wins.
  const noise = new SeededRandom(1);
  const daily = series(800, (i) => 50 + 20 * Math.sin((2 * Math.PI * i) / 24) + (i % 168 < 120 ? 10 : 0) + 6 * noise.next());
  const learned = trainWorldModel(daily, { seed: 1 });
  t.equal(learned.method, 'xlstm');
  t.ok(Object.entries(learned.scores).every(([, score]) => score >= (learned.scores.xlstm ?? 1)));
  const [next = 0, ...later] = learned.stepScores ?? [];
  t.equal(later.length, 23);
  t.ok(next > (later[5] ?? 1) && later.slice(3, 20).every((score) => score < 1), 'the last value is nearest to the next one');
  let level = 0;
  const walk = series(560, () => (level += random.next() - 0.5));
  const kept = trainWorldModel(walk, { seed: 1 });
  t.ok((kept.scores[kept.method] ?? 2) <= 1, 'never worse than the last value');
  t.equal(kept.network === undefined, kept.method !== 'xlstm');
  const short = trainWorldModel(
    series(60, (i) => i % 24),
    { seed: 1 },
  );
  t.notMatch(short.scores, { xlstm: Number }, 'too short for a network');
  t.match(
    trainWorldModel(
      series(200, () => 5),
      { seed: 1 },
    ),
    { scores: { naive: 0 }, stepScores: [0, 0] },
    'what never changes is no division by zero',
  );
});

t.test('a stored model foresees as it did, within the precision of its weights', async (t) => {
  const steps = series(520, (i) => 50 + 20 * Math.sin((2 * Math.PI * i) / 24) + 3 * random.next());
  const model = trainWorldModel(steps, { seed: 3 });
  t.strictSame(trainWorldModel(steps, { seed: 3 }), model, 'one seed gives one model');
  const [stored] =
    readModelSection(
      modelSection([
        { series: 'a', model },
        { series: 'b', model },
      ]),
    ) ?? [];
  const [one, two] = [model, stored?.model ?? model].map((each) => foreseenSteps(each, steps, 60, 1));
  t.equal(one?.steps.length, 60);
  for (const [i, step] of (one?.steps ?? []).entries()) t.ok(Math.abs(step.mean - (two?.steps[i]?.mean ?? 0)) < 1e-3);
  t.throws(() => foreseenSteps(model, { ...steps, stepMs: 60_000 }, 3, 1), RangeError);
  const bytes = modelSection([{ series: 'a', model }]);
  for (const cut of [0, 3, 20, bytes.length - 1]) t.equal(readModelSection(bytes.slice(0, cut)), undefined);
  t.equal(readModelSection(Uint8Array.of(...bytes, 0)), undefined);
});
