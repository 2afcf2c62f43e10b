/** A request as a job of the engine. */
import type { GenerationJob } from '../../../native/llama-shapes.ts';
import type { CallOptions } from '../backend.ts';
import { inferenceError } from '../errors.ts';

/** `adapters` are those that the model was loaded with; `spentMs` is gone of the caller's time. */
export function localJob(
  job: Omit<GenerationJob, 'tenant'>,
  adapters: readonly string[],
  options: CallOptions,
  spentMs: number,
): GenerationJob {
  const loras = job.loras ? { loras: job.loras.map(({ name, scale }) => ({ name: adapterName(name, adapters), scale })) } : {};
  return { ...job, ...loras, ...timeLeft(options, spentMs), tenant: options.tenant };
}

/** Native code counts from now on; a time that has passed is told by it as well. */
export function timeLeft({ timeoutMs }: CallOptions, spentMs: number): { timeoutMs?: number } {
  return timeoutMs === undefined ? {} : { timeoutMs: Math.max(1, Math.ceil(timeoutMs - spentMs)) };
}

/** llama-server names adapters by their index. */
function adapterName(name: string, adapters: readonly string[]): string {
  const found = adapters.includes(name) ? name : /^\d+$/.test(name) ? adapters[Number(name)] : undefined;
  if (found !== undefined) return found;
  const known = adapters.join(', ') || 'none';
  throw inferenceError('invalid_request', `lora names the adapter ${name}, which this model does not have; it has: ${known}.`, {
    param: 'lora',
  });
}
