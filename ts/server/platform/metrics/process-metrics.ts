/** The process itself: memory, CPU, event loop, under the names that Prometheus clients agree on. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { MetricsRegistry } from './registry.ts';

export function observeProcess(metrics: MetricsRegistry, version: string): void {
  const resident = metrics.gauge('process_resident_memory_bytes', 'Resident memory.').with();
  const heap = metrics.gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use.').with();
  const cpu = metrics.counter('process_cpu_seconds_total', 'CPU time of all threads.').with();
  const started = metrics.gauge('process_start_time_seconds', 'Start of the process, seconds since 1970.').with();
  const lag = metrics
    .gauge('nodejs_eventloop_lag_p99_seconds', 'Delay of the event loop since the last reading, 99th percentile.')
    .with();
  metrics.gauge('svc_info', 'Always 1; the labels tell the version.', ['version']).with({ version }).set(1);
  started.set(Date.now() / 1000 - process.uptime());
  const resolution = 20;
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  metrics.onCollect(() => {
    const memory = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    resident.set(memory.rss);
    heap.set(memory.heapUsed);
    cpu.value = (user + system) / 1e6;
    // What is measured is the time between two timers, so an idle loop reads as the resolution.
    lag.set(delay.count === 0 ? 0 : Math.max(0, delay.percentile(99) / 1e9 - resolution / 1000));
    delay.reset();
  });
}
