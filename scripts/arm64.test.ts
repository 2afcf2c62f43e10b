import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { emulatedCpu, emulator, fetchArm64Node, sysroot, whyNoArm64Addon } from './setup/arm64.mjs';
import { buildFolder, checkout } from './setup/paths.mjs';

const skip = process.env['SVC_TEST_LONG'] === '1' ? whyNoArm64Addon() : 'npm run test:full builds and runs it';

t.test('the ARM64 addon loads and names its CPU features', { skip, timeout: 120_000 }, async (t) => {
  const binding = join(checkout, 'ts/server/native/llama.ts');
  const program = `const { systemInfo } = await import(${JSON.stringify(binding)}); console.log(JSON.stringify({ arch: process.arch, ...systemInfo() }));`;
  const { stdout } = await promisify(execFile)(
    emulator ?? '',
    ['-cpu', emulatedCpu, '-L', sysroot, await fetchArm64Node(), '--input-type=module', '-e', program],
    {
      cwd: checkout,
      // The emulator shows the host's /proc/cpuinfo, so the features are told.
      env: {
        ...process.env,
        SVC_NATIVE_DIR: join(buildFolder('arm64'), 'lib'),
        SVC_FORCE_CPU_FEATURES: 'asimddp',
        LD_PRELOAD: '',
      },
    },
  );
  const info = JSON.parse(stdout);
  t.equal(info.arch, 'arm64');
  t.ok(info.cpuFeatures.includes('DOTPROD'));
});
