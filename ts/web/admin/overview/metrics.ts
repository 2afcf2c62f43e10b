/** Readings of /metrics (the Prometheus text format), and rates and percentiles between two of them. */
export interface Reading {
  /** Seconds. */
  at: number;
  values: ReadonlyMap<string, number>;
}

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/;

/** The sum of each series over all labels but `le` and `kind`, by `name`, `name{kind}` or `name{le}`. */
export function readMetrics(text: string, at: number): Reading {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', number] = LINE.exec(line) ?? [];
    const value = Number(number);
    if (name === undefined || !Number.isFinite(value)) continue;
    const kept = /(?:^|,)(?:le|kind)="([^"]*)"/.exec(labels)?.[1];
    const key = kept === undefined ? name : `${name}{${kept}}`;
    values.set(key, (values.get(key) ?? 0) + value);
  }
  return { at, values };
}

export function gauge(reading: Reading, name: string): number | undefined {
  return reading.values.get(name);
}

/** What a counter grew by each second. A restart of the server counts from nothing again. */
export function rate(before: Reading, now: Reading, name: string): number | undefined {
  const seconds = now.at - before.at;
  const grown = (now.values.get(name) ?? 0) - (before.values.get(name) ?? 0);
  return seconds > 0 && grown >= 0 ? grown / seconds : undefined;
}

/** A percentile of what a histogram counted in between, linear within a bucket; undefined where it counted nothing. */
export function percentile(before: Reading, now: Reading, name: string, share: number): number | undefined {
  const prefix = `${name}_bucket{`;
  const buckets = [...now.values]
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, count]) => {
      const bound = key.slice(prefix.length, -1);
      return { bound: bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), count: count - (before.values.get(key) ?? 0) };
    })
    .sort((a, b) => a.bound - b.bound);
  const total = buckets.at(-1)?.count ?? 0;
  if (total <= 0) return undefined;
  const wanted = total * share;
  let low = 0;
  let below = 0;
  for (const { bound, count } of buckets) {
    if (count >= wanted) {
      if (bound === Number.POSITIVE_INFINITY) return low;
      return low + ((bound - low) * (wanted - below)) / Math.max(1, count - below);
    }
    low = bound;
    below = count;
  }
  return low;
}
