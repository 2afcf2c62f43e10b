import type { MemoryPlan, MemoryUse, ModelInfo } from '../../../../native/llama-shapes.ts';

/** The result of the inspection of a model file; the child process prints one as JSON. */
export type InspectionResult =
  | {
      usable: true;
      hasChatTemplate: boolean;
      supportsTools: boolean;
      supportsThinking: boolean;
      /** How its template writes arguments of calls; missing: as JSON. */
      callArguments?: ModelInfo['callArguments'];
      /** Missing where no context can be planned. */
      memory?: MemoryPlan;
    }
  | {
      usable: false;
      reason: string;
      /** The child ended without a inspection result of its own: perhaps the machine's fault, so the next start asks again. */
      isDeath?: true;
    };

/** The child is another process and its output is checked like any other input. */
export function parseInspectionResult(text: string): InspectionResult | undefined {
  try {
    const value = JSON.parse(text) as Partial<Record<string, unknown>> | null;
    if (value?.['usable'] === false) return { usable: false, reason: String(value['reason']) };
    if (value?.['usable'] !== true) return undefined;
    const memory = parsePlan(value['memory']);
    const callArguments = (['json', 'tagged', 'free'] as const).find((each) => each === value['callArguments']);
    return {
      ...(memory ? { memory } : {}),
      usable: true,
      hasChatTemplate: value['hasChatTemplate'] === true,
      supportsTools: value['supportsTools'] === true,
      supportsThinking: value['supportsThinking'] === true,
      ...(callArguments && { callArguments }),
    };
  } catch {
    return undefined;
  }
}

function parsePlan(value: unknown): MemoryPlan | undefined {
  const plan = value as Partial<Record<keyof MemoryPlan, unknown>> | null | undefined;
  const [weights, extras] = [parseUse(plan?.weights), parseUse(plan?.extras)];
  if (!weights || !extras) return undefined;
  const [engine, embedder] = [parseUse(plan?.engine), parseUse(plan?.embedder)];
  const nGpuLayers = Number(plan?.nGpuLayers ?? -1);
  const [nEngineCtx, nEmbedderCtx] = [Number(plan?.nEngineCtx ?? 0), Number(plan?.nEmbedderCtx ?? 0)];
  return {
    weights,
    extras,
    ...(engine ? { engine } : {}),
    ...(embedder ? { embedder } : {}),
    ...(nEngineCtx > 0 ? { nEngineCtx } : {}),
    ...(nEmbedderCtx > 0 ? { nEmbedderCtx } : {}),
    ...(Number.isSafeInteger(nGpuLayers) && nGpuLayers >= 0 ? { nGpuLayers } : {}),
  };
}

function parseUse(value: unknown): MemoryUse | undefined {
  const use = value as Partial<Record<keyof MemoryUse, unknown>> | null | undefined;
  const [hostBytes, deviceBytes] = [Number(use?.hostBytes), Number(use?.deviceBytes)];
  return hostBytes >= 0 && deviceBytes >= 0 ? { hostBytes, deviceBytes } : undefined;
}
