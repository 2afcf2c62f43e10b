/** SVC_CPU_VARIANT: the CPU backend is the one that it names, or none. */
import { spawnSync } from 'node:child_process';
import t from 'tap';

const load = new URL('../../../ts/server/native/load.ts', import.meta.url).href;
const script = `const { loadAddon } = await import(${JSON.stringify(load)}); console.log(JSON.stringify(loadAddon('llama').systemInfo()));`;

function start(variant: string) {
  const env = { ...process.env, SVC_CPU_VARIANT: variant };
  return spawnSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], { env, encoding: 'utf8' });
}

t.test(
  'the variant that is named computes',
  { skip: process.arch === 'x64' ? false : 'haswell is a variant of x86_64' },
  async (t) => {
    const { cpuFeatures, devices } = JSON.parse(start('haswell').stdout) as { cpuFeatures: string[]; devices: unknown[] };
    t.ok(cpuFeatures.includes('AVX2'));
    t.notOk(cpuFeatures.includes('AVX512'), 'and no better one beside it');
    t.equal(devices.length, 1);
  },
);

t.test('a variant that is not there is refused with those that are', async (t) => {
  for (const variant of ['cray', '../haswell', '']) {
    const { status, stderr } = start(variant);
    if (variant === '') t.equal(status, 0, 'nothing named: the best');
    else t.match(stderr, `SVC_CPU_VARIANT is '${variant}', which is not built`);
  }
});
