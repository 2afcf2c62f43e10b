/** Milliseconds of CPU that the work takes this process: on a busy machine wall-clock time would measure what runs beside it. */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
