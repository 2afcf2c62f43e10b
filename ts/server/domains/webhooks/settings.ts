/** Settings of the webhooks module. */
import { integerSchema, setting, textSchema } from '../../platform/config/setting.ts';

export const webhookSettings = {
  'webhooks.allowed_hosts': setting(
    textSchema,
    '',
    'Hosts inside the network, separated by commas, that webhooks may call: name, name:port, or http://name:port for plain HTTP.',
    { isOfMachine: true },
  ),
  'webhooks.timeout_seconds': setting(integerSchema(1, 120), 15, 'How long a receiver may take to answer.'),
  'webhooks.retry_hours': setting(integerSchema(1, 720), 72, 'A delivery that fails is tried again for so long.'),
  'webhooks.disable_after_days': setting(
    integerSchema(1, 90),
    5,
    'A webhook whose deliveries have all failed for so long is disabled; an administrator enables it again.',
  ),
  'webhooks.keep_days': setting(integerSchema(1, 365), 14, 'Ended deliveries are kept for so long, for lists and replays.'),
} as const;
