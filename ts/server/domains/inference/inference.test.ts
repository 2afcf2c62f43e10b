import t from 'tap';
import type { Events } from '../../platform/events/index.ts';
import { noEvents, scriptedContext, scriptedNode } from '../../platform/module/test-support/scripted-context.ts';
import { createInference } from './inference-module.ts';
import { inferenceSettings } from './settings.ts';
import { ScriptedBinding } from './test-support/scripted-engine.ts';
import { scriptedInspector, sourceOf, storedModel } from './test-support/stored-models.ts';
import { unenforced } from './test-support/unenforced.ts';
import { unmetered } from './test-support/unmetered.ts';

t.test('the default model is loaded before there is a database, which hears of it afterwards', async (t) => {
  const folder = t.testdir({ 'tiny-chat.gguf': 'x' });
  const binding = new ScriptedBinding();
  const told: string[] = [];
  const events = { ...noEvents, sendOfNode: async (type: { name: string }) => void told.push(type.name) } as unknown as Events;
  const model = storedModel(folder, 'tiny-chat');
  const { path } = model;
  const make = () =>
    createInference(
      scriptedContext({
        spec: inferenceSettings,
        settings: { default_model: model.id },
        node: { ...scriptedNode, dataDir: folder },
        events,
      }),
      {
        metering: unmetered,
        security: unenforced,
        source: sourceOf([model]),
        binding,
        inspector: scriptedInspector(),
      },
    );
  const module = make();
  module.prepare?.();
  while (module.ready() !== undefined) await new Promise(setImmediate);
  t.strictSame(binding.loaded, [path]);
  t.strictSame(told, []);
  await module.start();
  await new Promise(setImmediate);
  t.strictSame(told, ['inference.model-loaded']);
  await module.stop();
  t.strictSame(binding.closed, [path]);

  const neverStarted = make();
  neverStarted.prepare?.();
  while (neverStarted.ready() !== undefined) await new Promise(setImmediate);
  await neverStarted.stop();
  t.equal(binding.closed.length, 2, 'a node that could not start frees it too');
});
