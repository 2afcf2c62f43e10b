/** OpenAI's service_tier -> the engine's priority. */
import { nullableString } from './nullable.ts';

export const serviceTierMember = nullableString(
  'flex lets other requests go first; priority goes before them, for tenants that may. Anything else: as usual.',
  { maxLength: 64 },
);

const priorities: Readonly<Record<string, number>> = { flex: -1, priority: 1 };

export function readPriority(tier: string | null | undefined): number | undefined {
  return tier !== undefined && tier !== null && Object.hasOwn(priorities, tier) ? priorities[tier] : undefined;
}
