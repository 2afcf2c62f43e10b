/** The inference module with a scripted engine behind it and no server around it. */
import type { Module } from '../../../platform/module/module.ts';
import type { PlatformServices } from '../../../platform/module/module-context.ts';
import { scriptedContext, scriptedNode } from '../../../platform/module/test-support/scripted-context.ts';
import { createInference, type InferenceApi, type InferenceOverrides } from '../inference-module.ts';
import { inferenceSettings } from '../settings.ts';
import { unenforced } from './unenforced.ts';
import { unmetered } from './unmetered.ts';

export interface InferenceForTestOptions extends Partial<PlatformServices> {
  overrides: InferenceOverrides;
  settings?: Readonly<Record<string, unknown>>;
  dataDir: string;
}

/** Started, and the default model loaded or failed. */
export async function inferenceForTest(options: InferenceForTestOptions): Promise<Module<InferenceApi>> {
  const { overrides, settings = {}, dataDir, ...services } = options;
  const node = { ...scriptedNode, version: '1', dataDir };
  const module = createInference(scriptedContext({ spec: inferenceSettings, settings, node, ...services }), {
    metering: unmetered,
    security: unenforced,
    ...overrides,
  });
  await module.start();
  while (module.ready() !== undefined) await new Promise(setImmediate);
  return module;
}
