/** Which model is loaded at start. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ModelSource } from './domains/inference/index.ts';
import { modelNameOfFile } from './domains/inference/library/index.ts';
import type { ConfigValues } from './platform/config/settings.ts';

/** The GGUF file that `default_model` names by its path, from anywhere. */
export function namedModelFile({ default_model: named }: ConfigValues): string[] {
  return isPath(named) ? [resolve(named)] : [];
}

/** The configured one; else the smallest chat model that is no demonstration, else the demonstration. Undefined: none is installed. */
export async function chooseDefaultModel(
  { default_model: named }: ConfigValues,
  source: ModelSource,
): Promise<string | undefined> {
  if (isPath(named)) return modelNameOfFile(named);
  if (named !== '') return named.toLowerCase();
  const chat = (await source.list()).filter((model) => model.kind === 'chat');
  const real = chat.filter((model) => model.demonstration === undefined);
  return (real.length > 0 ? real : chat).sort((a, b) => a.sizeBytes - b.sizeBytes)[0]?.id;
}

function isPath(named: string): boolean {
  return named.includes('/') || (/\.gguf$/i.test(named) && existsSync(named));
}
