/** Tells what GPUs this process computes on, and in words why it computes on none. */
import type { SystemInfo } from './llama-shapes.ts';

type UnusedGpuCode = 'no_driver' | 'driver_too_old' | 'no_gpu' | 'gpu_memory_full' | 'gpu_not_supported' | 'library_unusable';

interface UnusedGpu {
  readonly code: UnusedGpuCode;
  /** Says what is wrong, with the versions and the loader's own words. */
  readonly sentence: string;
  readonly remedy: string;
}

interface GpuState {
  readonly gpus: readonly { name: string; description: string; memoryBytes: number; freeBytes: number }[];
  /** Names the CUDA that the driver can do, for example 12.2; undefined: there is no driver, or nobody asked it. */
  readonly driver: string | undefined;
  /** Names the CUDA that the library was built with. */
  readonly toolkit: string | undefined;
  /** Says why a library that is installed is not used. Undefined: it is used, or there is none. */
  readonly unused: UnusedGpu | undefined;
}

export function gpuState({ devices, unusedBackends, cuda }: Pick<SystemInfo, 'devices' | 'unusedBackends' | 'cuda'>): GpuState {
  const gpus = devices.filter(({ kind }) => kind === 'gpu').map(({ kind: _kind, ...gpu }) => gpu);
  const driver = versionOf(cuda.driver);
  const toolkit = versionOf(cuda.toolkit);
  const reason = cuda.fault || unusedBackends[0]?.reason;
  return { gpus, driver, toolkit, unused: reason === undefined ? undefined : whyUnused(reason, driver, toolkit) };
}

/** ggml's and the loader's words, which it quotes -> what to do. */
export function whyUnused(reason: string, driver: string | undefined, toolkit: string | undefined): UnusedGpu {
  const [, code, remedy] = CAUSES.find(([pattern]) => pattern.test(reason)) ?? UNKNOWN;
  const versions = [driver && `its driver has CUDA ${driver}`, toolkit && `the library was built with CUDA ${toolkit}`];
  const known = code === 'driver_too_old' || code === 'gpu_not_supported' ? versions.filter(Boolean).join(', and ') : '';
  return { code, sentence: `the GPU is not used: ${reason}${known === '' ? '' : ` (${known})`}`, remedy };
}

type Cause = readonly [words: RegExp, code: UnusedGpuCode, remedy: string];

const CAUSES: readonly Cause[] = [
  [/libcuda\.so|libnone\.so/, 'no_driver', "install NVIDIA's driver, and start svc again"],
  [
    /driver version is insufficient|PTX was compiled with an unsupported toolchain/,
    'driver_too_old',
    "install a newer driver of NVIDIA's",
  ],
  [
    /no kernel image|device kernel image is invalid/,
    'gpu_not_supported',
    'build the library for this GPU: SVC_CUDA_ARCHITECTURES',
  ],
  [
    /out of memory|ALLOC_FAILED/,
    'gpu_memory_full',
    'lower inference.gpu_layers or inference.max_device_bytes, and start svc again',
  ],
  [
    /no device|no CUDA-capable device/,
    'no_gpu',
    'look whether `nvidia-smi` names the GPU, and whether the service may open /dev/nvidia*: docs/install/gpu.md',
  ],
];
const UNKNOWN: Cause = [
  /(?:)/,
  'library_unusable',
  'install the package svc-cuda of the same engine again, and read the log of the driver: `dmesg`',
];

/** CUDA counts 12.2 as 12020. */
function versionOf(number: number): string | undefined {
  return number > 0 ? `${Math.floor(number / 1000)}.${Math.floor((number % 1000) / 10)}` : undefined;
}
