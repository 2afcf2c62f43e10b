import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { emulatedCpu, emulator, fetchArm64Node, sysroot, whyNoArm64Addon } from './setup/arm64.mjs';
import { buildFolder, checkout } from './setup/paths.mjs';

const skip = process.env['SVC_TEST_ARM64'] === '1' ? whyNoArm64Addon() : 'npm run test:full builds and runs it';

/** What Node says with the ARM64 addons, on the emulated CPU. */
async function emulated(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(
    emulator ?? '',
    ['-cpu', emulatedCpu, '-L', sysroot, await fetchArm64Node(), '--no-warnings', ...args],
    {
      cwd: checkout,
      // The emulator shows the host's /proc/cpuinfo, so the features are told.
      env: {
        ...process.env,
        SVC_NATIVE_DIR: join(buildFolder('arm64'), 'lib'),
        SVC_FORCE_CPU_FEATURES: 'asimddp',
        LD_PRELOAD: '',
        ...env,
      },
    },
  );
  return stdout;
}

function program(binding: string, name: string, expression: string): string[] {
  const file = JSON.stringify(join(checkout, 'ts/server/native', binding));
  return ['--input-type=module', '-e', `const { ${name} } = await import(${file}); console.log(JSON.stringify(${expression}));`];
}

t.test('the ARM64 addon loads and names its CPU features', { skip, timeout: 120_000 }, async (t) => {
  const info = JSON.parse(await emulated(program('llama.ts', 'systemInfo', '{ arch: process.arch, ...systemInfo() }')));
  t.equal(info.arch, 'arm64');
  t.ok(info.cpuFeatures.includes('DOTPROD'));
});

t.test('vectors are compared with NEON as without it', { skip, timeout: 240_000 }, async (t) => {
  const one = 'compareKernels(Float32Array.of(1), Float32Array.of(1))';
  const kernels = JSON.parse(await emulated(program('vector.ts', 'compareKernels', one))) as { name: string }[];
  t.ok(
    kernels.some(({ name }) => /neon/i.test(name)),
    kernels.map(({ name }) => name).join(', '),
  );
  // A test that fails ends it with a code, which rejects.
  const report = await emulated(['native/vector/test/kernels.test.ts'], { SVC_TEST_OPERATIONS: '100', TAP_TIMEOUT: '200' });
  t.match(report, /^1\.\.[1-9]/m);
});
