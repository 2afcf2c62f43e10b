/** Limits of the model table when the configuration names none. */
import { totalmem } from 'node:os';
import type { TableLimits } from './model-table.ts';

/** The rest is left to the server, the file cache and other programs. */
const memoryShare = 0.8;

export function defaultTableLimits(): TableLimits {
  return { maxModels: 8, maxBytes: Math.floor(totalmem() * memoryShare), loadWaitMs: 120_000 };
}
