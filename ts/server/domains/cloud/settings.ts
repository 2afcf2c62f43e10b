/** Settings of the cloud module. */
import { setting, textSchema } from '../../platform/config/setting.ts';

export const cloudSettings = {
  'cloud.allowed_hosts': setting(
    textSchema,
    '',
    'Hosts inside the network, separated by commas, that backends may lie at: name, name:port, or http://name:port for plain HTTP.',
    { isOfMachine: true },
  ),
} as const;
