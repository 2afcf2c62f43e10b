import t from 'tap';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { ScriptedBinding, ScriptedEngine } from '../test-support/scripted-engine.ts';
import { InferenceMetrics } from './metrics.ts';

/** Reads a series of this module. */
function reader(registry: MetricsRegistry): (series: string) => number {
  const lines = registry.expose().split('\n');
  return (series) => Number(lines.find((line) => line.startsWith(`svc_inference_${series} `))?.split(' ')[1]);
}

t.test('an operator sees in /metrics what steers an engine', async (t) => {
  const registry = new MetricsRegistry();
  new InferenceMetrics(registry).observe('small', new ScriptedEngine().stats());
  const value = reader(registry);
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

t.test('and an embedder', async (t) => {
  const registry = new MetricsRegistry();
  new InferenceMetrics(registry).observeEmbedder('small', new ScriptedBinding().embedder.stats());
  const value = reader(registry);
  t.equal(value('embedding_queued_requests{model="small"}'), 3);
  t.equal(value('embedding_queued_tokens{model="small"}'), 60);
  t.equal(value('estimated_embedding_token_seconds{model="small"}'), 0.0005);
  t.equal(value('estimated_embedding_service_rate{model="small"}'), 40);
});
