/** Models that lie in a test's folder, as a source of models tells them. */
import { join } from 'node:path';
import type { ModelInfo } from '../../../native/llama-shapes.ts';
import { Inspector } from '../local/inspection/inspector.ts';
import type { ModelSource, StoredModel } from '../models/model-source.ts';

export function storedModel(folder: string, id: string, kind: StoredModel['kind'] = 'chat'): StoredModel {
  const path = join(folder, `${id}.gguf`);
  return { id, kind, path, sizeBytes: 1, architecture: 'llama', family: 'llama', nCtxTrain: 512, createdAt: 5 };
}

export function sourceOf(models: readonly StoredModel[]): ModelSource {
  return { list: async () => [...models], find: async (id) => models.find((model) => model.id === id) };
}

/** Finds every file usable, at once. */
export function scriptedInspector({
  supportsTools = true,
  callArguments = 'json' as ModelInfo['callArguments'],
} = {}): Inspector {
  return new Inspector(
    undefined,
    async () => ({ usable: true, hasChatTemplate: true, supportsTools, callArguments, supportsThinking: false }),
    0,
  );
}
