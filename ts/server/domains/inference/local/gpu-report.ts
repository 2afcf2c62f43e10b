/** The server tells of its GPUs in its log when it starts, and in /health. */
import { gpuState } from '../../../native/gpu-state.ts';
import type { SystemInfo } from '../../../native/llama-shapes.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { NativeBinding } from './native-binding.ts';

export function devicesOf(binding: NativeBinding): SystemInfo['devices'] {
  try {
    return binding.systemInfo().devices;
  } catch {
    // Without an engine, which its unavailableReason explains, nothing is loaded.
    return [];
  }
}

/** A machine that was given a GPU library computes on its CPU: an operator who expects otherwise looks here for the reason. */
export function warnOfUnusedDevices(binding: NativeBinding, log: Log): void {
  try {
    const info = binding.systemInfo();
    const { unused } = gpuState(info);
    for (const { file, reason } of info.unusedBackends)
      log.warn('a library for GPUs is installed and not used: local models run on the CPU', {
        file,
        reason,
        remedy: unused?.remedy,
      });
  } catch {
    // Without an engine, which its unavailableReason explains, nothing computes.
  }
}

/** Undefined: the machine was given no library for GPUs. */
export function gpuHealth(binding: NativeBinding) {
  const { gpus, driver, unused } = gpuState(binding.systemInfo());
  if (gpus.length === 0 && unused === undefined) return undefined;
  return {
    devices: gpus.map(({ name, description, memoryBytes, freeBytes }) => ({
      name,
      description,
      memory_bytes: memoryBytes,
      free_bytes: freeBytes,
    })),
    ...(driver === undefined ? {} : { driver_cuda: driver }),
    ...(unused === undefined ? {} : { unused: unused.code, reason: unused.sentence, remedy: unused.remedy }),
  };
}

/** A node that was given a library for GPUs, and computes without them, is slower than its operator believes. */
export function gpuReasons(gpu: ReturnType<typeof gpuHealth>): { code: string; detail: string; remedy: string }[] {
  if (gpu?.reason === undefined || gpu.remedy === undefined) return [];
  return [{ code: 'gpu_not_used', detail: gpu.reason, remedy: gpu.remedy }];
}
