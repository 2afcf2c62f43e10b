/** Settings of the logs module. */
import Type from 'typebox';
import { setting } from '../../platform/config/setting.ts';

export const logsSettings = {
  'logs.runner': setting(
    Type.Enum(['child', 'unit']),
    'child',
    'Who runs rsyslog: this process (child), or the unit svc-rsyslog.service, which has the right to privileged ports.',
    { isOfMachine: true },
  ),
} as const;
