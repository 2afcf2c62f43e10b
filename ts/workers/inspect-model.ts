/**
 * Opens an unknown model file where it can do no harm: a short-lived process without secrets and with limits.
 * Usage: node inspect-model.ts FILE. Prints one line of JSON: {usable: true, ...} or {usable: false, reason}.
 */
import { LlamaModel } from '../server/native/llama.ts';
import { type GgufFile, readGguf } from '../server/platform/gguf/gguf-reader.ts';
import { findString } from '../server/platform/gguf/gguf-value.ts';
import { splitModelPaths } from '../server/platform/gguf/split-model.ts';

async function inspect(path: string): Promise<Record<string, unknown>> {
  const file = await readGguf(path);
  const [, ...others] = splitModelPaths(path, file);
  for (const part of others) await readGguf(part);
  const model = await LlamaModel.load({ path, dryRun: true });
  await model.close();
  return { usable: true, ...readTemplate(file) };
}

/** What the template speaks of; the loaded model knows for certain, and its word then counts. */
function readTemplate({ metadata }: GgufFile): Record<string, boolean> {
  const plain = findString(metadata, 'tokenizer.chat_template');
  const template = `${plain ?? ''}${findString(metadata, 'tokenizer.chat_template.tool_use') ?? ''}`;
  return {
    hasChatTemplate: template !== '',
    supportsTools: /\btools\b/.test(template) && /\btool_calls?\b/.test(template),
    supportsThinking: /\benable_thinking\b/.test(template),
  };
}

function refuse(error: unknown): Record<string, unknown> {
  return { usable: false, reason: error instanceof Error ? error.message : String(error) };
}

const verdict = await inspect(process.argv[2] ?? '').catch(refuse);
process.stdout.write(`${JSON.stringify(verdict)}\n`);
