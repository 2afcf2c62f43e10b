/** All metric families of the process and their text form (Prometheus exposition format 0.0.4). */
import { Counter, Family, Gauge, Histogram } from './metrics.ts';

/** Seconds; from a quick local answer to a long generation. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300] as const;

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

type AnyFamily = Family<Counter> | Family<Gauge> | Family<Histogram>;

export class MetricsRegistry {
  readonly #families = new Map<string, AnyFamily>();
  readonly #collectors: (() => void)[] = [];

  counter(name: string, help: string, labelNames: readonly string[] = []): Family<Counter> {
    return this.#add(new Family('counter', name, help, labelNames, () => new Counter()));
  }

  gauge(name: string, help: string, labelNames: readonly string[] = []): Family<Gauge> {
    return this.#add(new Family('gauge', name, help, labelNames, () => new Gauge()));
  }

  histogram(
    name: string,
    help: string,
    labelNames: readonly string[] = [],
    bounds: readonly number[] = DURATION_BUCKETS,
  ): Family<Histogram> {
    return this.#add(new Family('histogram', name, help, labelNames, () => new Histogram(bounds)));
  }

  /** Called before each exposition, to set gauges that are read rather than counted. */
  onCollect(collect: () => void): void {
    this.#collectors.push(collect);
  }

  /** In the order in which they were registered. */
  families(): readonly AnyFamily[] {
    return [...this.#families.values()];
  }

  expose(): string {
    for (const collect of this.#collectors) collect();
    return [...this.#families.values()].map(exposeFamily).join('');
  }

  #add<F extends AnyFamily>(family: F): F {
    if (!/^[a-z_][a-z0-9_]*$/.test(family.name)) throw new Error(`metric name ${family.name} is not valid`);
    if (this.#families.has(family.name)) throw new Error(`metric ${family.name} is registered twice`);
    this.#families.set(family.name, family);
    return family;
  }
}

function exposeFamily(family: AnyFamily): string {
  let text = `# HELP ${family.name} ${family.help.replaceAll('\n', ' ')}\n# TYPE ${family.name} ${family.type}\n`;
  for (const { labels, value } of family) {
    text += value instanceof Histogram ? exposeHistogram(family.name, labels, value) : line(family.name, labels, value.value);
  }
  return text;
}

function exposeHistogram(name: string, labels: string, histogram: Histogram): string {
  const prefix = labels === '' ? '' : `${labels},`;
  let text = '';
  let below = 0;
  histogram.bounds.forEach((bound, i) => {
    below += histogram.counts[i] ?? 0;
    text += line(`${name}_bucket`, `${prefix}le="${bound}"`, below);
  });
  text += line(`${name}_bucket`, `${prefix}le="+Inf"`, histogram.count);
  return text + line(`${name}_sum`, labels, histogram.sum) + line(`${name}_count`, labels, histogram.count);
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`;
}
