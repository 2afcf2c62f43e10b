/** Settings of the logs module. */
import Type from 'typebox';
import { maskUserInfo, setting, textSchema } from '../../platform/config/setting.ts';

export const logsSettings = {
  'logs.runner': setting(
    Type.Enum(['child', 'unit']),
    'child',
    'Who runs rsyslog: this process (child), or the unit svc-rsyslog.service, which has the right to privileged ports.',
    { isOfMachine: true },
  ),
  'logs.store.url': setting(
    Type.String({ maxLength: 4096, pattern: '^(https?://[^\\s/]+(/\\w*)?)?$' }),
    '',
    'A ClickHouse database that collected lines are sent to and searched in, such as https://user:password@host:8443/svc; empty: the files alone.',
    {
      accepts: 'a URL that starts with http:// or https://, with at most a name of a database behind it, or nothing',
      isOfMachine: true,
      mask: maskUserInfo,
    },
  ),
  'logs.allowed_hosts': setting(
    textSchema,
    '',
    'Hosts inside the network, separated by commas, that block lists may lie at: name, name:port, or http://name:port for plain HTTP.',
    { isOfMachine: true },
  ),
  'logs.flows_listen': setting(
    textSchema,
    '',
    'Addresses and ports, separated by commas, that NetFlow (5, 9) and IPFIX are received at, such as 0.0.0.0:2055; empty: none.',
    { isOfMachine: true },
  ),
  'logs.flows_from': setting(
    textSchema,
    '127.0.0.0/8, 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, ::1, fc00::/7',
    'Addresses and networks of exporters of flows; packets of others are dropped.',
  ),
} as const;
