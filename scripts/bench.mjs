// npm run bench -- SUITE [options]: makes the checkout ready, builds the rivals that the suite needs, and runs bench/run.ts.
import { join } from 'node:path';
import { becomeTypeScript } from '../ts/cli/node-runtime.mjs';
import { chooseVariants, matrixVariants, readCpuFeatures, runnableVariants } from './setup/cpu-variants.mjs';
import { nativeSteps } from './setup/native.mjs';
import { checkout } from './setup/paths.mjs';
import { runScript } from './setup/run-script.mjs';
import { rivalsPreset, setUp } from './setup/set-up.mjs';
import { runSteps } from './setup/steps.mjs';
import { whisperProgramStep } from './setup/whisper-programs.mjs';

/** Suites whose rivals are programs of llama.cpp, which take minutes to compile. */
const withRivals = ['serving', 'kernels', 'embeddings', 'load', 'gpu', 'media'];

await runScript(async () => {
  const args = process.argv.slice(2);
  // A suite of its own, since it is built otherwise; what it measures is rare enough to be kept.
  if (args.includes('gpu') && !args.includes('--help')) {
    process.env.SVC_PRESET = 'cuda';
    if (!args.some((arg) => ['--summary', '--quick', '--trial'].includes(arg))) args.push('--summary');
  }
  const isMatrix = args.includes('--machine-matrix');
  if (isMatrix) process.env.SVC_CPU_VARIANTS ||= variantsOfMatrix();
  await setUp();
  if (args.some((arg) => withRivals.includes(arg)) && !args.includes('--help')) await runSteps(nativeSteps(rivalsPreset()));
  if (args.includes('media') && !args.includes('--help')) await runSteps([whisperProgramStep(rivalsPreset())]);
  await becomeTypeScript(join(checkout, 'bench', isMatrix ? 'matrix/main.ts' : 'run.ts'), args);
});

/** Both sides are built for all of them. */
function variantsOfMatrix() {
  const features = readCpuFeatures();
  const runnable = runnableVariants(process.arch, features);
  const named = matrixVariants.filter((name) => runnable.includes(name));
  return [...new Set([...chooseVariants(process.arch, features), ...named])].sort().join(';');
}
