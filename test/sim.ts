/** `npm run sim -- [--runs 1000] [--seed 1] [--fault NAME]`: simulated clusters, one a seed; it fails where one does what it must not. */
import { parseArgs } from 'node:util';
import { type PlantedFault, planted, simulate } from './sim/simulate.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    fault: { type: 'string' },
  },
});
if (values.fault !== undefined && !Object.hasOwn(planted, values.fault))
  throw new Error(`there is no fault ${values.fault}: ${Object.keys(planted).join(', ')}`);
const first = Number(values.seed);
const nRuns = Number(values.runs);
let nFaulty = 0;
for (let seed = first; seed < first + nRuns; seed++) {
  const faults = await simulate(seed, values.fault as PlantedFault | undefined);
  if (faults.length > 0) nFaulty += 1;
  for (const fault of faults) console.log(`seed ${seed}: ${fault}`);
}
console.log(`${nRuns} runs, ${nFaulty} of them with a fault`);
process.exitCode = nFaulty === 0 ? 0 : 1;
