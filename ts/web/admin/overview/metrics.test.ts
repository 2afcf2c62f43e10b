import t from 'tap';
import { gauge, percentile, rate, readMetrics } from './metrics.ts';

const before = readMetrics(
  `# HELP tokens_total Tokens.
tokens_total{model="a",kind="completion"} 10
tokens_total{model="b",kind="completion"} 5
tokens_total{model="a",kind="prompt"} 7
ttft_bucket{model="a",le="0.1"} 1
ttft_bucket{model="a",le="1"} 1
ttft_bucket{model="a",le="+Inf"} 1
memory 3e8
odd NaN
`,
  100,
);
const now = readMetrics(
  `tokens_total{model="a",kind="completion"} 40
tokens_total{model="b",kind="completion"} 15
ttft_bucket{model="a",le="0.1"} 11
ttft_bucket{model="a",le="1"} 21
ttft_bucket{model="a",le="+Inf"} 21
`,
  110,
);

t.test('series are summed over models, by kind', async (t) => {
  t.equal(before.values.get('tokens_total{completion}'), 15);
  t.equal(gauge(before, 'memory'), 3e8);
  t.equal(before.values.has('odd'), false);
});

t.test('a rate is growth by time, and none after a restart', async (t) => {
  t.equal(rate(before, now, 'tokens_total{completion}'), 4);
  t.equal(rate(now, { ...before, at: 120 }, 'tokens_total{completion}'), undefined);
});

t.test('percentiles come from what was counted in between', async (t) => {
  t.equal(percentile(before, now, 'ttft', 0.5), 0.1);
  t.equal(percentile(before, now, 'ttft', 0.75), 0.55);
  t.equal(percentile(now, now, 'ttft', 0.5), undefined);
});
