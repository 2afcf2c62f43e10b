/** Bytes in main memory and in the memory of devices, added up and compared. */
import type { MemoryUse } from '../../../native/llama-shapes.ts';

export type { MemoryUse };

export const noMemory: MemoryUse = { hostBytes: 0, deviceBytes: 0 };

export function sumOf(...uses: (MemoryUse | undefined)[]): MemoryUse {
  return uses.reduce<MemoryUse>(
    (sum, use) => ({ hostBytes: sum.hostBytes + (use?.hostBytes ?? 0), deviceBytes: sum.deviceBytes + (use?.deviceBytes ?? 0) }),
    noMemory,
  );
}

export function fitsIn(use: MemoryUse, limit: MemoryUse): boolean {
  return use.hostBytes <= limit.hostBytes && use.deviceBytes <= limit.deviceBytes;
}

export function totalBytes({ hostBytes, deviceBytes }: MemoryUse): number {
  return hostBytes + deviceBytes;
}
