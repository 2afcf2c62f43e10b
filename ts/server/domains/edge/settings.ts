/** Settings of the edge module. */
import { integerSchema, setting } from '../../platform/config/setting.ts';

export const edgeSettings = {
  'tools.calls_at_once': setting(
    integerSchema(1, 1_000),
    8,
    'Calls of tools that one person or key may have running at the same time.',
  ),
  'tools.approval_hours': setting(integerSchema(1, 720), 24, 'A call that asks may be approved, and then made, for so long.'),
} as const;
