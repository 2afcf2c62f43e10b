import t from 'tap';
import { MetricsRegistry } from './registry.ts';

t.test('counters, gauges and histograms in the text format', (t) => {
  const metrics = new MetricsRegistry();
  metrics.counter('c_total', 'Counts.', ['kind']).with({ kind: 'a"b\\c\nd' }).add(2);
  metrics.gauge('g', 'Goes up\nand down.').with().set(1.5);
  const histogram = metrics.histogram('h_seconds', 'Times.', ['model'], [1, 2]).with({ model: 'm' });
  for (const value of [0.5, 1, 1.5, 9]) histogram.observe(value);
  t.equal(
    metrics.expose(),
    [
      '# HELP c_total Counts.',
      '# TYPE c_total counter',
      'c_total{kind="a\\"b\\\\c\\nd"} 2',
      '# HELP g Goes up and down.',
      '# TYPE g gauge',
      'g 1.5',
      '# HELP h_seconds Times.',
      '# TYPE h_seconds histogram',
      'h_seconds_bucket{model="m",le="1"} 2',
      'h_seconds_bucket{model="m",le="2"} 3',
      'h_seconds_bucket{model="m",le="+Inf"} 4',
      'h_seconds_sum{model="m"} 12',
      'h_seconds_count{model="m"} 4',
      '',
    ].join('\n'),
  );
  t.end();
});

t.test('values that hold what could separate them are of different label sets', (t) => {
  const counter = new MetricsRegistry().counter('c_total', 'Counts.', ['a', 'b']);
  const values = ['', '\0', 'x', 'x\0', '\0x', '1:', ':', '0:0:', '1:x'];
  const all = new Set(values.flatMap((a) => values.map((b) => counter.with({ a, b }))));
  t.equal(all.size, values.length ** 2);
  t.end();
});

t.test('label sets are bounded: the rest is counted together', (t) => {
  const metrics = new MetricsRegistry();
  const counter = metrics.counter('c_total', 'Counts.', ['path']);
  for (let i = 0; i < 5000; i++) counter.with({ path: `/${i}` }).add();
  const lines = metrics
    .expose()
    .split('\n')
    .filter((line) => line.startsWith('c_total{'));
  t.equal(lines.length, 501);
  t.ok(lines.includes('c_total{path="other"} 4500'));
  t.end();
});

t.test('a label set can be forgotten', (t) => {
  const metrics = new MetricsRegistry();
  const gauge = metrics.gauge('g', 'Value.', ['model']);
  gauge.with({ model: 'a' }).set(1);
  gauge.delete({ model: 'a' });
  t.notMatch(metrics.expose(), /model="a"/);
  t.end();
});

t.test('a name that is taken or not valid is refused', (t) => {
  const metrics = new MetricsRegistry();
  metrics.gauge('g', 'Value.');
  t.throws(() => metrics.counter('g', 'Again.'), /registered twice/);
  t.throws(() => metrics.counter('Bad-Name', 'Bad.'), /not valid/);
  t.end();
});

t.test('collectors run before each exposition', (t) => {
  const metrics = new MetricsRegistry();
  const gauge = metrics.gauge('g', 'Value.').with();
  let reading = 0;
  metrics.onCollect(() => gauge.set(++reading));
  metrics.expose();
  t.match(metrics.expose(), /^g 2$/m);
  t.end();
});
