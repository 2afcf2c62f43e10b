/** Settings of extraction, which the module adds to its own. */
import { integerSchema, setting } from '../../../platform/config/setting.ts';
import { hostMemory } from '../../../platform/host-memory.ts';
import type { ExtractorOptions } from './extractor.ts';

const MAX_QUEUE = 1_000;

export const extractionSettings = {
  'data.extraction_threads': setting(
    integerSchema(2, 64),
    2,
    'Files that are read at the same time; one tenant has all of them but one, so that a slow file does not hold up others.',
  ),
  'data.extraction_seconds': setting(
    integerSchema(1, 86_400),
    120,
    'Seconds after which a file that is still being read is refused.',
  ),
  'data.extraction_memory_mb': setting(
    integerSchema(0, 1_048_576),
    0,
    'MiB of memory for one file that is being read; 0 for an eighth of the machine, from 256 to 1536.',
  ),
} as const;

export function extractorOptions(settings: Readonly<Record<keyof typeof extractionSettings, number>>): ExtractorOptions {
  const memoryMb = settings['data.extraction_memory_mb'];
  return {
    nThreads: settings['data.extraction_threads'],
    timeoutMs: settings['data.extraction_seconds'] * 1000,
    maxMemoryMb: memoryMb === 0 ? defaultMemoryMb() : memoryMb,
    maxQueue: MAX_QUEUE,
  };
}

function defaultMemoryMb(): number {
  return Math.min(1536, Math.max(256, Math.floor(hostMemory() / 2 ** 20 / 8)));
}
