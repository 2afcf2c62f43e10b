/**
 * The memory of the machine's GPUs, as ggml's device info tells it: what all programs use, not this one alone. ggml does not say how busy a GPU is,
 * which only the makers' own libraries know.
 */
import type { SystemInfo } from '../../../native/llama-shapes.ts';
import type { Family, Gauge } from '../../../platform/metrics/metrics.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';

type Device = SystemInfo['devices'][number];

export class GpuMetrics {
  readonly #memory: Family<Gauge>;
  readonly #readDevices: () => readonly Device[];
  #hasGpus = false;

  constructor(registry: MetricsRegistry, readDevices: () => readonly Device[]) {
    this.#readDevices = readDevices;
    this.#memory = registry.gauge(
      'svc_inference_gpu_memory_bytes',
      'Memory of GPUs, whoever uses it; kind is used or total. No series without a GPU.',
      ['device', 'description', 'kind'],
    );
    // The engine is not asked before it is started, nor where it found no GPU.
    registry.onCollect(() => this.#hasGpus && this.#observe(this.#readDevices()));
  }

  /** Starts with the devices that the started engine found. */
  start(devices: readonly Device[]): void {
    this.#hasGpus = devices.some(({ kind }) => kind === 'gpu');
  }

  #observe(devices: readonly Device[]): void {
    for (const { kind, name: device, description, memoryBytes, freeBytes } of devices) {
      if (kind !== 'gpu') continue;
      this.#memory.with({ device, description, kind: 'total' }).set(memoryBytes);
      this.#memory.with({ device, description, kind: 'used' }).set(memoryBytes - freeBytes);
    }
  }
}
