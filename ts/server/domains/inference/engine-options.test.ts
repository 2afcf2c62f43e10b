import t, { type Test } from 'tap';
import { valuesOf } from '../../platform/config/config.ts';
import { loadNodeConfig } from '../../settings.ts';
import { engineOptions } from './engine-options.ts';
import { inferenceSettings } from './settings.ts';

function optionsOf(t: Test, toml: string) {
  const root = t.testdir({ 'svc.toml': toml });
  const config = loadNodeConfig({ root, environment: {}, workingDirectory: root });
  return engineOptions(valuesOf(config, inferenceSettings), '/data');
}

t.test('settings become what the engine takes', async (t) => {
  const toml = '[inference]\nctx = 1024\nkv_unified = "off"\ntensor_split = "3, 1"\ndevices = "none"\nrope_freq_scale = 0.5\n';
  const { engine, load } = optionsOf(t, toml);
  t.match(engine, { nCtx: 1024, kvUnified: false, ropeFreqScale: 0.5, kvOffloadFolder: '/data/cache/kv', maxQueueMs: 60_000 });
  t.match(load, { tensorSplit: [3, 1], devices: ['none'], overrideKv: [], nGpuLayers: -1, mmap: true });
});

t.test('what is automatic is absent', async (t) => {
  t.notOk('kvUnified' in (optionsOf(t, '').engine ?? {}));
});

t.test("a model's section holds what differs, and its draft model wins", async (t) => {
  const toml =
    '[inference]\ndraft_model = "big=small, other=small"\n[models.big]\nctx = 512\nmmap = false\ndraft_model = "tiny"\n';
  const { models, draftModels } = optionsOf(t, toml);
  t.strictSame(models?.get('big'), { engine: { nCtx: 512 }, load: { mmap: false }, draftModel: 'tiny' });
  t.strictSame([...(draftModels ?? [])].sort(), [
    ['big', 'tiny'],
    ['other', 'small'],
  ]);
});
