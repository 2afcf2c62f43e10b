import t from 'tap';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { ScriptedEngine } from '../test-support/scripted-engine.ts';
import { InferenceMetrics } from './metrics.ts';

t.test('an operator sees in /metrics what steers an engine', async (t) => {
  const registry = new MetricsRegistry();
  const metrics = new InferenceMetrics(registry);
  metrics.observe('small', new ScriptedEngine().stats());
  const text = registry.expose();
  const value = (series: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`svc_inference_${series} `))
        ?.split(' ')[1],
    );
  t.equal(value('estimated_decode_step_seconds{model="small"}'), 0.005);
  t.equal(value('estimated_prefill_token_seconds{model="small"}'), 0.0002);
  t.ok(Math.abs(value('estimated_prefill_token_depth_seconds{model="small"}') - 1e-7) < 1e-12);
  t.equal(value('compute_threads{model="small"}'), 2);
  t.equal(value('compute_poll_seconds{model="small"}'), 0.002);
  t.equal(value('compute_queued_ratio{model="small"}'), 0.01);
  t.equal(value('estimated_kv_copy_bytes_per_second{model="small"}'), 1e9);
  t.equal(value('estimated_kv_disk_read_bytes_per_second{model="small"}'), 0, 'nothing is known yet');
  t.equal(value('draft_allowance_seconds{model="small"}'), 0.01);
  t.equal(value('estimated_service_rate{model="small"}'), 1);
  t.equal(value('estimated_draft_acceptance{model="small",kind="ngram4"}'), 0.4);
});
