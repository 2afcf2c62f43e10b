/** Settings of the metering module. */
import { integerSchema, setting } from '../../platform/config/setting.ts';

export const meteringSettings = {
  'metering.tenant_tokens_per_minute': setting(
    integerSchema(0, 2 ** 40),
    0,
    'Prompt and completion tokens of one tenant in any minute, where neither a quota nor the tenant says; more answer 429. 0 for no limit.',
  ),
  'metering.keep_days': setting(integerSchema(32, 36_500), 400, 'Days that usage is kept, by the hour.'),
} as const;
