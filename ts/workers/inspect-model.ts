/**
 * Opens an unknown model file in a short-lived process, which the server confines (ts/server/native/confinement.ts): without secrets,
 * network, other processes and files to write, and with limits.
 * Usage: node inspect-model.ts FILE [PLAN]. Prints one line of JSON: {usable: true, ...} or {usable: false, reason}.
 * PLAN is JSON, {engine, load} as native/llama.ts takes them: how much memory the model will take with these is told too. With
 * `deviceBytes`, as many layers are planned for devices as fit there.
 */
import { type EngineOptions, LlamaModel, type LoadOptions } from '../server/native/llama.ts';
import type { MemoryPlan } from '../server/native/llama-shapes.ts';
import { type MeasuredPlan, planThatFits } from '../server/native/memory-fit.ts';
import { callArgumentsOf } from '../server/platform/gguf/chat-template.ts';
import { type GgufFile, readGguf } from '../server/platform/gguf/gguf-reader.ts';
import { findString } from '../server/platform/gguf/gguf-value.ts';
import { splitModelPaths } from '../server/platform/gguf/split-model.ts';

interface Plan {
  engine: EngineOptions;
  load: Omit<LoadOptions, 'path'>;
  deviceBytes?: number;
}

async function inspect(path: string, plan: Plan | undefined): Promise<Record<string, unknown>> {
  const file = await readGguf(path);
  const [, ...others] = splitModelPaths(path, file);
  for (const part of others) await readGguf(part);
  // What the heap grows by is measured; what waits for collection would disturb that.
  (globalThis as { gc?: () => void }).gc?.();
  const model = await LlamaModel.load({ ...plan?.load, path, dryRun: true });
  const memory = plan && (await planMemory(path, plan, model));
  await model.close();
  return { usable: true, ...readTemplate(file), ...(memory ? { memory } : {}) };
}

/** Undefined where a context cannot be planned, which is no defect of the file; loading it will say why. */
async function planMemory(path: string, plan: Plan, whole: LlamaModel): Promise<MemoryPlan | undefined> {
  const measure = async (model: LlamaModel, load: Plan['load']): Promise<MeasuredPlan> => {
    const measured = await model.planMemory(plan.engine, { ...load, path });
    return { nLayers: model.info.nLayer + 1, plan: measured };
  };
  const measureWith = async (nGpuLayers: number | undefined) => {
    if (nGpuLayers === undefined) return measure(whole, plan.load);
    const load = { ...plan.load, nGpuLayers };
    const model = await LlamaModel.load({ ...load, path, dryRun: true });
    try {
      return await measure(model, load);
    } finally {
      await model.close();
    }
  };
  try {
    return await planThatFits(measureWith, plan.deviceBytes ?? Number.POSITIVE_INFINITY);
  } catch {
    return undefined;
  }
}

/** Tells what the template speaks of; the loaded model knows for certain, and its word then counts. */
function readTemplate({ metadata }: GgufFile): Record<string, unknown> {
  const plain = findString(metadata, 'tokenizer.chat_template');
  const template = `${plain ?? ''}${findString(metadata, 'tokenizer.chat_template.tool_use') ?? ''}`;
  return {
    hasChatTemplate: template !== '',
    supportsTools: /\btools\b/.test(template) && /\btool_calls?\b/.test(template),
    supportsThinking: /\benable_thinking\b/.test(template),
    callArguments: callArgumentsOf(template),
  };
}

function refuse(error: unknown): Record<string, unknown> {
  return { usable: false, reason: error instanceof Error ? error.message : String(error) };
}

const [, , path = '', plan] = process.argv;
const result = await inspect(path, plan === undefined ? undefined : (JSON.parse(plan) as Plan)).catch(refuse);
process.stdout.write(`${JSON.stringify(result)}\n`);
