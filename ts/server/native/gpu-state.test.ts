import t from 'tap';
import { gpuState, whyUnused } from './gpu-state.ts';

const cpu = { name: 'CPU', description: 'a processor', kind: 'cpu', memoryBytes: 8e9, freeBytes: 4e9 } as const;
const gpu = { name: 'CUDA0', description: 'NVIDIA H200', kind: 'gpu', memoryBytes: 150e9, freeBytes: 140e9 } as const;
const none = { driver: 0, toolkit: 0, fault: '', isLost: false };
const file = 'libggml-cuda.so';

t.test('each reason has a code, what is, and what to do', async (t) => {
  // The words of the loader, of the CUDA runtime and of ggml-cuda.
  const rows: [reason: string, code: string, remedy: RegExp][] = [
    ['libcuda.so.1: cannot open shared object file: No such file or directory', 'no_driver', /driver/],
    [
      'it finds no device that it can compute on: ggml_cuda_init: failed to initialize CUDA: CUDA driver version is insufficient for CUDA runtime version',
      'driver_too_old',
      /newer driver/,
    ],
    ['the provided PTX was compiled with an unsupported toolchain.', 'driver_too_old', /newer driver/],
    [
      'it finds no device that it can compute on: ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected',
      'no_gpu',
      /nvidia-smi/,
    ],
    ['it finds no device that it can compute on', 'no_gpu', /nvidia-smi/],
    ['no kernel image is available for execution on the device', 'gpu_not_supported', /SVC_CUDA_ARCHITECTURES/],
    ['out of memory', 'gpu_memory_full', /inference\.gpu_layers/],
    ['an illegal memory access was encountered', 'library_unusable', /svc-cuda/],
    ['file too short', 'library_unusable', /svc-cuda/],
    ['libcublas.so.11: cannot open shared object file: No such file or directory', 'library_unusable', /svc-cuda/],
  ];
  for (const [reason, code, remedy] of rows) {
    const found = whyUnused(reason, '12.2', '11.8');
    t.match(found, { code, remedy }, reason);
    t.ok(found.sentence.includes(reason));
  }
});

t.test('a driver that is too old is named with both versions', async (t) => {
  const reason = 'CUDA driver version is insufficient for CUDA runtime version';
  const state = gpuState({
    devices: [cpu],
    unusedBackends: [{ file, reason }],
    cuda: { ...none, driver: 11040, toolkit: 11080 },
  });
  t.match(state, {
    gpus: [],
    driver: '11.4',
    toolkit: '11.8',
    unused: { code: 'driver_too_old', sentence: /CUDA 11\.4.*CUDA 11\.8/ },
  });
});

t.test('what is used needs no reason, and a machine without a library none either', async (t) => {
  const used = gpuState({
    devices: [gpu, { ...gpu, name: 'CUDA1' }, cpu],
    unusedBackends: [],
    cuda: { ...none, driver: 13000, toolkit: 12090 },
  });
  t.match(used, { gpus: [{ name: 'CUDA0' }, { name: 'CUDA1' }], driver: '13.0', toolkit: '12.9', unused: undefined });
  t.strictSame(gpuState({ devices: [cpu], unusedBackends: [], cuda: none }), {
    gpus: [],
    driver: undefined,
    toolkit: undefined,
    unused: undefined,
  });
});

t.test('a GPU that failed is told as long as the process lives', async (t) => {
  const state = gpuState({ devices: [gpu, cpu], unusedBackends: [], cuda: { ...none, fault: 'out of memory' } });
  t.match(state, { gpus: [{ name: 'CUDA0' }], unused: { code: 'gpu_memory_full' } });
});
