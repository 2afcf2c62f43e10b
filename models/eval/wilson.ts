/** The 95% Wilson score interval of `right` out of `total`: sensible near 0 and 1, where the usual one is not (Wilson 1927). */
export function wilsonInterval(right: number, total: number): { low: number; high: number } {
  if (total === 0) return { low: 0, high: 1 };
  const z = 1.959964;
  const share = right / total;
  const scale = 1 + z ** 2 / total;
  const centre = (share + z ** 2 / (2 * total)) / scale;
  const margin = (z / scale) * Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2));
  return { low: Math.max(0, centre - margin), high: Math.min(1, centre + margin) };
}
