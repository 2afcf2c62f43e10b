/**
 * Opens an unknown model file where it can do no harm: a short-lived process without secrets and with limits.
 * Usage: node inspect-model.ts FILE. Prints one line of JSON: {usable: true, ...} or {usable: false, reason}.
 */
import { LlamaModel } from '../server/native/llama.ts';
import { readGguf } from '../server/platform/gguf/gguf-reader.ts';
import { splitModelPaths } from '../server/platform/gguf/split-model.ts';

async function inspect(path: string): Promise<Record<string, unknown>> {
  const file = await readGguf(path);
  const [, ...others] = splitModelPaths(path, file);
  for (const part of others) await readGguf(part);
  await using model = await LlamaModel.load({ path, vocabOnly: true });
  const { hasChatTemplate, supportsTools, supportsThinking, hasDecoder, pooling } = model.info;
  return { usable: true, hasChatTemplate, supportsTools, supportsThinking, hasDecoder, pooling };
}

function refuse(error: unknown): Record<string, unknown> {
  return { usable: false, reason: error instanceof Error ? error.message : String(error) };
}

const verdict = await inspect(process.argv[2] ?? '').catch(refuse);
process.stdout.write(`${JSON.stringify(verdict)}\n`);
