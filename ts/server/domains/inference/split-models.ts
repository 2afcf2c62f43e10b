/** Models that are larger than this node: the setting `inference.split`. They are served over several nodes, and not by this node's own engine. */
import type { ModelSource } from './models/model-source.ts';

export interface SplitModel {
  readonly name: string;
  /** Names or ids of nodes. */
  readonly nodes: readonly string[];
  /** Undefined: there is none of that name in models_dir. */
  file(): Promise<{ path: string; sizeBytes: number; contextLength: number } | undefined>;
}

/** MODEL=NODE,NODE with semicolons between. */
export const SPLIT_PATTERN = '^$|^[^=;,\\s]+=[^=;,\\s]+(,[^=;,\\s]+)*(;[^=;,\\s]+=[^=;,\\s]+(,[^=;,\\s]+)*)*$';

export function splitModels(text: string, source: ModelSource): SplitModel[] {
  return text.split(';').flatMap((one) => {
    const [name = '', nodes = ''] = one.split('=');
    if (name === '') return [];
    const file = async () => {
      const stored = await source.find(name);
      return stored && { path: stored.path, sizeBytes: stored.sizeBytes, contextLength: stored.nCtxTrain };
    };
    return [{ name, nodes: [...new Set(nodes.split(','))], file }];
  });
}

/** The models that the node's own engine may have. */
export function withoutSplit(source: ModelSource, split: readonly SplitModel[]): ModelSource {
  if (split.length === 0) return source;
  const isSplit = (id: string): boolean => split.some(({ name }) => name === id);
  return {
    list: async () => (await source.list()).filter(({ id }) => !isSplit(id)),
    find: async (name) => (isSplit(name) ? undefined : await source.find(name)),
  };
}
