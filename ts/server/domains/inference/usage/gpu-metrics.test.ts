import t from 'tap';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { GpuMetrics } from './gpu-metrics.ts';

const cpu = { name: 'CPU', description: 'A processor', kind: 'cpu', memoryBytes: 64e9, freeBytes: 32e9 } as const;
const gpu = { name: 'GPU0', description: 'A "large" card', kind: 'gpu', memoryBytes: 24e9, freeBytes: 20e9 } as const;
const series = (registry: MetricsRegistry): string[] =>
  registry
    .expose()
    .split('\n')
    .filter((line) => line.startsWith('svc_inference_gpu_memory_bytes'));

t.test('GPUs have series of their memory, as it is when they are read', async (t) => {
  const registry = new MetricsRegistry();
  let devices = [cpu, gpu];
  const metrics = new GpuMetrics(registry, () => devices);
  metrics.start(devices);
  t.strictSame(series(registry), [
    'svc_inference_gpu_memory_bytes{device="GPU0",description="A \\"large\\" card",kind="total"} 24000000000',
    'svc_inference_gpu_memory_bytes{device="GPU0",description="A \\"large\\" card",kind="used"} 4000000000',
  ]);
  devices = [cpu, { ...gpu, freeBytes: 5e9 } as unknown as typeof gpu];
  t.match(series(registry)[1], / 19000000000$/);
});

t.test('without a GPU there is no series, and devices are not read before the start', async (t) => {
  const registry = new MetricsRegistry();
  let nReads = 0;
  const metrics = new GpuMetrics(registry, () => {
    nReads++;
    return [cpu];
  });
  t.strictSame(series(registry), []);
  metrics.start([cpu]);
  t.strictSame(series(registry), []);
  t.equal(nReads, 0);
});
