/** Settings of e-mail, with which people set a forgotten password themselves. */
import Type from 'typebox';
import { integerSchema, pathSchema, setting } from '../../platform/config/setting.ts';

export const mailSettings = {
  'smtp.host': setting(
    Type.String({ maxLength: 253, pattern: '^[A-Za-z0-9.:_-]*$' }),
    '',
    'SMTP server for e-mail of the node; empty: none is sent, and `svc user reset` issues reset tokens.',
  ),
  'smtp.port': setting(integerSchema(1, 65_535), 587, 'Its port.'),
  'smtp.security': setting(
    Type.Enum(['starttls', 'tls', 'none']),
    'starttls',
    'starttls: nothing is sent unless the connection becomes TLS; tls: it is from the first byte; none: in the clear.',
  ),
  'smtp.username': setting(Type.String({ maxLength: 256 }), '', 'Account at that server; empty: without signing in.'),
  'smtp.password': setting(Type.String({ maxLength: 1024 }), '', 'Its password; better in SVC_SMTP_PASSWORD than in the file.', {
    mask: (value) => (value === '' ? '' : '***'),
  }),
  'smtp.from': setting(
    Type.String({ maxLength: 320, pattern: '^$|^[^\\r\\n]*[^\\s@]+@[^\\s@]+$|^[^\\r\\n<>]*<[^\\s@<>]+@[^\\s@<>]+>$' }),
    '',
    'Sender, for example svc@ai.example or AI Platform <svc@ai.example>.',
  ),
  'smtp.ca': setting(pathSchema, '', 'PEM file of certificates that are trusted for it beside the system’s.', { isPath: true }),
  'edge.public_url': setting(
    Type.String({ maxLength: 2048, pattern: '^$|^https?://[^\\s/?#@]+/?$' }),
    '',
    'Address under which people reach the node, for links in e-mail: https://ai.example.',
    { accepts: 'the scheme and the host of an address, for example https://ai.example' },
  ),
} as const;
