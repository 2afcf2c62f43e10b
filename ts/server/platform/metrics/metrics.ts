/** Prometheus counters, gauges and histograms with bounded label sets. */

type Labels = Readonly<Record<string, string>>;

/** Label sets above this many share one series whose labels all say `other`: a client must not be able to fill the memory. */
const MAX_SERIES = 500;

/** Fixed names and a fixed kind; one value object per label set. */
export class Family<T> {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labelNames: readonly string[];
  readonly #make: () => T;
  readonly #series = new Map<string, { labels: string; value: T }>();

  constructor(type: 'counter' | 'gauge' | 'histogram', name: string, help: string, labelNames: readonly string[], make: () => T) {
    this.type = type;
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
    this.#make = make;
  }

  /** The value of one label set, made on first use. Keep the result where speed matters. */
  with(labels: Labels = {}): T {
    const values = this.labelNames.map((name) => labels[name] ?? '');
    const known = this.#series.get(keyOf(values));
    if (known !== undefined) return known.value;
    return this.#add(this.#series.size < MAX_SERIES ? values : values.map(() => 'other'));
  }

  /** Forgets a label set, for example of a model that was unloaded. */
  delete(labels: Labels): void {
    this.#series.delete(keyOf(this.labelNames.map((name) => labels[name] ?? '')));
  }

  *[Symbol.iterator](): Iterator<{ labels: string; value: T }> {
    yield* this.#series.values();
  }

  #add(values: readonly string[]): T {
    const key = keyOf(values);
    const known = this.#series.get(key);
    if (known !== undefined) return known.value;
    const labels = this.labelNames.map((name, i) => `${name}="${escapeLabel(values[i] ?? '')}"`).join(',');
    const value = this.#make();
    this.#series.set(key, { labels, value });
    return value;
  }
}

/** With lengths: a value may hold any character, so none of them separates two values. */
function keyOf(values: readonly string[]): string {
  let key = '';
  for (const value of values) key += `${value.length}:${value}`;
  return key;
}

export class Counter {
  value = 0;
  add(amount = 1): void {
    this.value += amount;
  }
}

export class Gauge {
  value = 0;
  set(value: number): void {
    this.value = value;
  }
  add(amount: number): void {
    this.value += amount;
  }
}

export class Histogram {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length).fill(0);
  }

  /** Counts live in one bucket each; the text form accumulates them. */
  observe(value: number): void {
    this.sum += value;
    this.count += 1;
    const at = this.bounds.findIndex((bound) => value <= bound);
    if (at >= 0) this.counts[at] = (this.counts[at] ?? 0) + 1;
  }
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
