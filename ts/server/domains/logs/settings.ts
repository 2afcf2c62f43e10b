/** Settings of the logs module. */
import Type from 'typebox';
import { setting, textSchema } from '../../platform/config/setting.ts';

export const logsSettings = {
  'logs.runner': setting(
    Type.Enum(['child', 'unit']),
    'child',
    'Who runs rsyslog: this process (child), or the unit svc-rsyslog.service, which has the right to privileged ports.',
    { isOfMachine: true },
  ),
  'logs.allowed_hosts': setting(
    textSchema,
    '',
    'Hosts inside the network, separated by commas, that block lists may lie at: name, name:port, or http://name:port for plain HTTP.',
    { isOfMachine: true },
  ),
} as const;
