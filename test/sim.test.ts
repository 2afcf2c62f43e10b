/** Simulated clusters keep what a cluster promises, and a protocol that does not is found out. */
import t from 'tap';
import { type PlantedFault, planted, simulate } from './sim/simulate.ts';
import { iterations } from './test-support/iterations.ts';
import { random } from './test-support/seed.ts';

t.test(
  'whatever happens, an epoch has one writer, nothing acknowledged is lost, each answer ends as documented, and calm returns',
  async (t) => {
    for (let i = iterations(20, 400); i > 0; i--) {
      const seed = random.integer(2 ** 31);
      t.strictSame(await simulate(seed), [], `seed ${seed}`);
    }
  },
);

for (const fault of Object.keys(planted) as PlantedFault[]) {
  t.test(`a planted fault is found: ${fault}`, async (t) => {
    let nRuns = 1;
    while (nRuns <= 1000 && (await simulate(nRuns, fault)).length === 0) nRuns += 1;
    t.ok(nRuns <= 1000, `in ${nRuns} runs`);
  });
}

t.test('the same seed makes the same run', async (t) => {
  t.strictSame(await simulate(7, 'lease-without-epoch'), await simulate(7, 'lease-without-epoch'));
});
