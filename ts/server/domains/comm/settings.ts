/** Settings of the comm module. */
import { integerSchema, setting, textSchema } from '../../platform/config/setting.ts';

export const commSettings = {
  'comm.allowed_hosts': setting(
    textSchema,
    '',
    'Hosts inside the network, separated by commas, at which mail servers and services for messages may lie: name, name:port, or http://name:port for plain HTTP.',
    { isOfMachine: true },
  ),
  'comm.call_max_seconds': setting(integerSchema(1, 14_400), 600, 'A call ends after so long at the latest.'),
  'comm.keep_days': setting(
    integerSchema(1, 3650),
    90,
    'Records of messages are kept for so many days; their texts go when the provider has answered.',
  ),
  'comm.timeout_seconds': setting(integerSchema(1, 120), 20, 'A provider has so long to answer.'),
} as const;
