// npm run test:cuda-build: builds the cuda preset from nothing, and looks at what came of it. Skipped, with the command that installs it, where
// no CUDA toolkit is.
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { findCudaToolkit, requireCudaToolkit } from './setup/cuda.mjs';
import { nativeSteps } from './setup/native.mjs';
import { buildFolder } from './setup/paths.mjs';
import { runScript } from './setup/run-script.mjs';
import { runSteps } from './setup/steps.mjs';

await runScript(async () => {
  if (findCudaToolkit() === undefined) {
    try {
      requireCudaToolkit();
    } catch (error) {
      console.log(`skipped: ${/** @type {Error} */ (error).message}`);
      console.log('0 passed, 0 failed');
      return;
    }
  }
  const { nvcc, release } = requireCudaToolkit();
  console.log(`CUDA ${release}: ${nvcc}`);
  const began = performance.now();
  await runSteps(nativeSteps('cuda'));
  const library = join(buildFolder('cuda'), 'lib', 'libggml-cuda.so');
  const linked = execFileSync('readelf', ['-d', '-W', library], { encoding: 'utf8' });
  const needed = [...linked.matchAll(/Shared library: \[([^\]]+)\]/g)].map(([, name]) => name);
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  console.log(`built in ${minutes} minutes: ${(statSync(library).size / 1e6).toFixed(1)} MB, which needs ${needed.join(', ')}`);
  const lacking = [/^libcudart\.so/, /^libcublas\.so/, /^libcuda\.so\.1$/, /^libggml-base\.so/].filter(
    (name) => !needed.some((one) => one && name.test(one)),
  );
  if (lacking.length > 0) throw new Error(`${library} does not link ${lacking.join(', ')}`);
  console.log('1 passed, 0 failed');
});
