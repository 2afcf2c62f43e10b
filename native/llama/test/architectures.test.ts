/**
 * Architectures that keep something else than every token's keys and values: jobs at once, with common beginnings, under cancels, get
 * what each of them gets alone.
 */
import t, { type Test } from 'tap';
import type { ArchitectureName } from '../../../models/random/architectures.ts';
import { randomModel } from '../../../models/random/fixture.ts';
import { SeededRandom } from '../../../models/random/seeded-random.ts';
import { iterations } from '../../../test/test-support/iterations.ts';
import { type EngineOptions, LlamaModel } from '../../../ts/server/native/llama.ts';
import { ModelAlone, nearlyEqual, start } from './model-alone.ts';

const nJobs = iterations(24, 200);
/** Natural-log units: where two experts are nearly as good, other company in the batch chooses the other, which changes more than a hair. */
const routed = 0.5;

/** Beginnings of several lengths in common, some longer than a sliding window. */
function makePrompts(random: SeededRandom): Int32Array[] {
  const token = () => 300 + random.integer(5_000);
  const shared = Array.from({ length: 120 }, token);
  return Array.from({ length: 10 }, (_, i) => {
    const own = Array.from({ length: 3 + random.integer(40) }, token);
    return Int32Array.from([1, ...shared.slice(0, [0, 30, 120][i % 3]), ...own]);
  });
}

const layouts: Record<string, EngineOptions> = {
  'one buffer for all': { nCtx: 1_024, kvUnified: true },
  'a buffer for each': { nCtx: 4 * 512, kvUnified: false },
};

for (const arch of ['qwen3moe', 'gemma3', 'mamba', 'jamba'] as const satisfies ArchitectureName[]) {
  for (const [layout, options] of Object.entries(layouts))
    t.test(`${arch}, ${layout}: ${nJobs} jobs at once`, (t) => runTogether(t, arch, options));
}

async function runTogether(t: Test, arch: ArchitectureName, options: EngineOptions): Promise<void> {
  const model = await LlamaModel.load({ path: await randomModel({ arch }) });
  t.teardown(() => model.close());
  const engineAlone = await model.createEngine({ nCtx: 512, nParallel: 1, speculation: 'off' });
  t.teardown(() => engineAlone.close());
  const alone = new ModelAlone(engineAlone, []);
  const engine = await model.createEngine({ nParallel: 4, kvOffloadMemoryBytes: 2_000_000, ...options });
  t.teardown(() => engine.close());
  const random = new SeededRandom(5);
  const prompts = makePrompts(random);
  const checks: Promise<number>[] = [];
  for (let job = 0; job < nJobs; job++) {
    const tokens = prompts[random.integer(prompts.length)] as Int32Array;
    const running = start(engine, { tenant: `tenant-${random.integer(2)}`, prompt: { kind: 'tokens', tokens } });
    if (random.chance(0.2)) setTimeout(() => engine.cancel(running.id), random.integer(20));
    else checks.push(running.answer.then((answer) => (answer.error ? Number.NaN : alone.largestGap(tokens, answer))));
    if (job % 6 === 5) await Promise.race(checks.slice(-3));
  }
  const gaps = await Promise.all(checks);
  const worst = Math.max(...gaps);
  t.ok(
    worst < (arch === 'qwen3moe' ? routed : nearlyEqual),
    `tokens differ only where they were nearly equal (largest gap ${worst.toFixed(4)})`,
  );
  t.ok(checks.length > nJobs / 2, 'most jobs ran to their end');
}
