import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { cudaLicenses, cudaVariables, findCudaToolkit, requireCudaToolkit } from './cuda.mjs';

/** A toolkit as NVIDIA's packages lay it out; without libraries it is a compiler alone. */
function toolkit(t: Test, release: string, libraries = ['libcublas.so', 'libcudart.so']) {
  const root = t.testdir({
    bin: { nvcc: `#!/bin/sh\necho 'Cuda compilation tools, release ${release}, V${release}.1'\n` },
    lib64: Object.fromEntries(libraries.map((name) => [name, ''])),
    'EULA.txt': 'license',
  });
  chmodSync(join(root, 'bin/nvcc'), 0o755);
  return root;
}

t.test('a compiler without libraries is passed over', async (t) => {
  const PATH = join(toolkit(t, '13.0', []), 'bin');
  await t.test('for a toolkit that is whole', async (t) => {
    const root = toolkit(t, '12.9');
    const whole = { nvcc: join(root, 'bin/nvcc'), release: '12.9', libraries: join(root, 'lib64'), hostCompiler: undefined };
    t.strictSame(findCudaToolkit({ PATH: `${PATH}:${join(root, 'bin')}` }), whole);
    t.match(cudaLicenses(requireCudaToolkit({ PATH: `${PATH}:${join(root, 'bin')}` })), [/EULA\.txt$/]);
  });
});

t.test('what is missing is said in one sentence with the command', async (t) => {
  t.throws(() => requireCudaToolkit({ PATH: '', CUDACXX: '/nowhere/nvcc' }), {
    name: 'SetUpError',
    message: /^The CUDA toolkit is missing: .*apt-get install/,
  });
  const alone = join(toolkit(t, '12.9', []), 'bin/nvcc');
  t.throws(() => requireCudaToolkit({ PATH: '', CUDACXX: alone }), { message: /has no cuBLAS beside it.*apt-get install/ });
});

t.test('architectures are checked before anything is compiled', async (t) => {
  const CUDACXX = join(toolkit(t, '12.9'), 'bin/nvcc');
  t.equal(cudaVariables({ CUDACXX })['CMAKE_CUDA_ARCHITECTURES'], '80;90-real');
  t.equal(cudaVariables({ CUDACXX, SVC_CUDA_ARCHITECTURES: '89-real;120a' })['CMAKE_CUDA_ARCHITECTURES'], '89-real;120a');
  for (const wrong of ['8.0', 'sm_80', '80,90', ';', '80;', '80 90'])
    t.throws(() => cudaVariables({ CUDACXX, SVC_CUDA_ARCHITECTURES: wrong }), { message: /SVC_CUDA_ARCHITECTURES is/ }, wrong);
});

t.test('toolkits before 12 get what their headers lack, and a compiler that they know', async (t) => {
  const old = cudaVariables({ CUDACXX: join(toolkit(t, '11.8'), 'bin/nvcc'), CUDAHOSTCXX: '/usr/bin/g++-11' });
  t.match(old, { CMAKE_CUDA_FLAGS: /^-include .*grid_dependency\.h$/, CMAKE_CUDA_HOST_COMPILER: '/usr/bin/g++-11' });
  t.notOk('CMAKE_CUDA_FLAGS' in cudaVariables({ CUDACXX: join(toolkit(t, '12.0'), 'bin/nvcc') }));
});
