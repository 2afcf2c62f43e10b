import t from 'tap';
import { readBatchedBench } from './batched-bench-output.ts';
import { kernelSample } from './kernel-sample.ts';

const line = (figures: object) =>
  JSON.stringify({ n_kv_max: 4096, n_batch: 2048, pp: 512, tg: 128, pl: 4, n_kv: 2560, ...figures });

t.test('tokens and seconds of the phase that is asked for, all sequences together', async (t) => {
  const stdout = `main: loading\n\n${line({ t_pp: 0.5, t_tg: 2 })}\n${line({ t_pp: 0.25, t_tg: 1 })}\n\n`;
  t.strictSame(readBatchedBench(stdout, 'prefill'), [
    { nTokens: 2_048, seconds: 0.5 },
    { nTokens: 2_048, seconds: 0.25 },
  ]);
  t.strictSame(readBatchedBench(stdout, 'decode'), [
    { nTokens: 512, seconds: 2 },
    { nTokens: 512, seconds: 1 },
  ]);
});

t.test('rates over no time do not spoil a line', async (t) => {
  const printed = line({ tg: 0, t_pp: 0.5, t_tg: 0 }).replace('}', ', "speed_tg": -nan, "speed": inf}');
  t.strictSame(readBatchedBench(printed, 'prefill'), [{ nTokens: 2_048, seconds: 0.5 }]);
  t.throws(() => readBatchedBench(printed, 'decode'), /without the decode figures/);
});

t.test('a line that was cut off is left out', async (t) => {
  const whole = line({ t_pp: 1, t_tg: 1 });
  t.equal(readBatchedBench(`${whole}\n${whole.slice(0, 40)}`, 'decode').length, 1);
  t.strictSame(readBatchedBench('error: unable to load model', 'decode'), []);
});

t.test('the first measurement only warms up', async (t) => {
  const sample = kernelSample([100, 2, 1, 4].map((seconds) => ({ nTokens: 8, seconds })));
  t.strictSame(sample, { tokensPerSecond: 4, slowestTokensPerSecond: 2, fastestTokensPerSecond: 8 });
});
