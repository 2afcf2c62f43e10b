/** What to fetch where only a demonstration answers, or nothing does. */
import { firstModels } from '../server/domains/inference/library/index.ts';
import { hostMemory } from '../server/platform/host-memory.ts';
import { formatBytes } from './format.ts';

/** A command, and the other models that this machine has memory for. */
export function firstModelsText(memoryBytes = hostMemory()): string {
  const [first, ...larger] = firstModels(memoryBytes);
  if (first === undefined) return 'svc models list --catalogue';
  const others = larger.map(({ name, sizeBytes }) => `${name} (${formatBytes(sizeBytes)})`);
  const better = others.length === 0 ? '' : `; better and larger: ${others.join(', ')}`;
  return `svc models pull ${first.name} (${formatBytes(first.sizeBytes)})${better}`;
}
