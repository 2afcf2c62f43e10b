import t from 'tap';
import { CpuUnsupportedError, requireCpuFeatures } from './cpu-features.ts';

t.test('x86_64 with AVX2 and what came with it passes', async (t) => {
  t.doesNotThrow(() => requireCpuFeatures({ SVC_FORCE_CPU_FEATURES: 'avx2,fma,f16c,bmi2,sse4_2' }, 'x64'));
});

t.test('x86_64 without AVX2 has its own code and says what is missing', async (t) => {
  const check = () => requireCpuFeatures({ SVC_FORCE_CPU_FEATURES: 'sse4_2,avx' }, 'x64');
  t.throws(check, CpuUnsupportedError);
  t.throws(check, { code: 'cpu_lacks_avx2', missing: ['avx2', 'fma', 'f16c', 'bmi2'] });
});

t.test('ARM64 without the dot product has its own code', async (t) => {
  const check = () => requireCpuFeatures({ SVC_FORCE_CPU_FEATURES: 'none' }, 'arm64');
  t.throws(check, { code: 'cpu_lacks_arm_extensions', missing: ['asimddp'], message: /dot product/ });
});

t.test('other architectures are for the loader to judge', async (t) => {
  t.doesNotThrow(() => requireCpuFeatures({ SVC_FORCE_CPU_FEATURES: 'none' }, 'riscv64'));
});
