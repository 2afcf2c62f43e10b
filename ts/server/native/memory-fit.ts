/** How many layers of a model go to the memory of devices, where as many as fit are asked for (nGpuLayers -1). */
import type { MemoryPlan, MemoryUse } from './llama-shapes.ts';

/** What a model takes with some of its layers on devices. */
export interface MeasuredPlan {
  /** Layers and the output behind them, which llama.cpp places first. */
  nLayers: number;
  plan: MemoryPlan;
}

/** Plans the model's memory with so many layers on devices; undefined: with all of them. */
export type MeasureMemory = (nGpuLayers: number | undefined) => Promise<MeasuredPlan>;

/**
 * The most of `most` that fit, where what fits with some layers fits with fewer. 0 where none do: then the model does not fit at all,
 * or its buffers alone are too large for the devices, which whoever loads it refuses.
 */
export async function mostThatFit(most: number, fits: (count: number) => boolean | Promise<boolean>): Promise<number> {
  let [least, above] = [0, most + 1];
  while (above - least > 1) {
    const middle = Math.floor((least + above) / 2);
    if (await fits(middle)) least = middle;
    else above = middle;
  }
  return least;
}

/**
 * The plan of a model whose layers lie on devices as far as `deviceBytes` reach, with its larger context. Where not all of them do,
 * the plan names how many.
 */
export async function planThatFits(measure: MeasureMemory, deviceBytes: number): Promise<MemoryPlan> {
  const { nLayers, plan: whole } = await measure(undefined);
  if (bytesOnDevices(whole) <= deviceBytes) return whole;
  const plans = new Map<number, MemoryPlan>();
  const planned = async (count: number) => {
    const known = plans.get(count);
    if (known) return known;
    const { plan } = await measure(count);
    plans.set(count, plan);
    return plan;
  };
  const nGpuLayers = await mostThatFit(nLayers - 1, async (count) => bytesOnDevices(await planned(count)) <= deviceBytes);
  return { ...(await planned(nGpuLayers)), nGpuLayers };
}

/** Either context may be asked for first. */
function bytesOnDevices({ weights, extras, engine, embedder }: MemoryPlan): number {
  const on = (use: MemoryUse | undefined) => use?.deviceBytes ?? 0;
  return on(weights) + on(extras) + Math.max(on(engine), on(embedder));
}
