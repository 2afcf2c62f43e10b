/** Settings of the iot module. */
import { integerSchema, setting, textSchema } from '../../platform/config/setting.ts';

export const iotSettings = {
  'iot.allowed_hosts': setting(
    textSchema,
    '',
    'Hosts inside the network, separated by commas, at which devices and brokers may lie: name, name:port, or http://name:port for plain HTTP. Without encryption no other host is reached.',
    { isOfMachine: true },
  ),
  'iot.sample_seconds': setting(
    integerSchema(1, 3600),
    10,
    'The history keeps at most one sample of a variable in so many seconds.',
  ),
  'iot.keep_days': setting(integerSchema(1, 3650), 30, 'Samples are kept for so many days.'),
  'iot.keep_hours_days': setting(integerSchema(1, 36_500), 1_095, 'Hourly means are kept for so many days.'),
} as const;
