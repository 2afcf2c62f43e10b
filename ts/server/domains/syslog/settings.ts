/** Settings of the syslog module, which the operator of the machine sets; what an administrator saves lies in syslog.json. */
import Type from 'typebox';
import { integerSchema, pathSchema, setting, textSchema } from '../../platform/config/setting.ts';
import { PROTOCOLS } from './target.ts';

const isOfMachine = true;

export const syslogSettings = {
  'syslog.host': setting(textSchema, '', 'Server that this node’s log lines are sent to: a name or an address. Empty: none.', {
    isOfMachine,
  }),
  'syslog.port': setting(integerSchema(1, 65_535), 514, 'Port of the syslog server.', { isOfMachine }),
  'syslog.protocol': setting(Type.Enum([...PROTOCOLS]), 'udp', 'How lines are sent; tcp and tls count their octets (RFC 6587).', {
    isOfMachine,
  }),
  'syslog.ca_cert': setting(
    pathSchema,
    '',
    'PEM file of the authorities that may have signed the certificate of a TLS server, whose name is then checked. Empty: nothing is checked.',
    { isOfMachine, isPath: true },
  ),
  'syslog.client_cert': setting(pathSchema, '', 'PEM file of the certificate that this node shows to a TLS server.', {
    isOfMachine,
    isPath: true,
  }),
  'syslog.client_key': setting(pathSchema, '', 'PEM file of the key of that certificate.', { isOfMachine, isPath: true }),
  'syslog.allowed_hosts': setting(
    textSchema,
    '',
    'Syslog servers inside the network, separated by commas, that tenants may route their lines to: name, or name:port.',
    { isOfMachine },
  ),
  'syslog.server': setting(
    textSchema,
    '',
    'HOST:PORT of the syslog server, as older versions name it; syslog.host goes before it.',
    {
      isOfMachine,
    },
  ),
} as const;
