/** Which model is loaded at start. */
import { modelNameOfFile } from './library/index.ts';
import { isModelPath } from './model-folders.ts';
import type { ModelSource } from './models/model-source.ts';

/** The configured one; else the smallest chat model that is no demonstration, else the demonstration. Undefined: none is installed. */
export async function chooseDefaultModel(
  { default_model: named }: { readonly default_model: string },
  source: ModelSource,
): Promise<string | undefined> {
  if (isModelPath(named)) return modelNameOfFile(named);
  if (named !== '') return named.toLowerCase();
  const chat = (await source.list()).filter((model) => model.kind === 'chat');
  const real = chat.filter((model) => model.demonstration === undefined);
  return (real.length > 0 ? real : chat).sort((a, b) => a.sizeBytes - b.sizeBytes)[0]?.id;
}
