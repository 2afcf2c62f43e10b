/** Settings of the identity module. */
import Type from 'typebox';
import { integerSchema, pathSchema, setting, textSchema } from '../../platform/config/setting.ts';

const DAY_SECONDS = 24 * 60 * 60;
/** Who may sign in is one choice of several settings: half of it, saved, could shut everybody out. */
const ofMachine = { isOfMachine: true };
const mask = (value: string): string => (value === '' ? '' : '***');

/** Settings of e-mail, with which people set a forgotten password themselves. */
const mailSettings = {
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

export const identitySettings = {
  ...mailSettings,
  'identity.self_registration': setting(
    Type.Enum(['open', 'closed']),
    'open',
    'Whether people may make themselves an account with the role viewer in the tenant default; the first account can always be made.',
  ),
  'identity.session_idle_seconds': setting(
    integerSchema(60, 365 * DAY_SECONDS),
    7 * DAY_SECONDS,
    'A session that is not used for so long ends.',
  ),
  'identity.session_max_seconds': setting(
    integerSchema(60, 365 * DAY_SECONDS),
    30 * DAY_SECONDS,
    'A session ends after so long, however much it is used.',
  ),
  'identity.end_open_requests': setting(
    Type.Boolean(),
    true,
    'Whether open requests, streams above all, end when their credential is revoked or expires, or their account is disabled or deleted.',
  ),
  'identity.oidc.issuer': setting(
    textSchema,
    '',
    'OpenID Connect provider for sign-in: its issuer, as its discovery document names it. https, or http on the machine itself. Empty: none.',
    ofMachine,
  ),
  'identity.oidc.client_id': setting(textSchema, '', 'Id of this installation at the provider.', ofMachine),
  'identity.oidc.client_secret': setting(
    textSchema,
    '',
    'Secret of this installation at the provider; better in SVC_IDENTITY_OIDC_CLIENT_SECRET than in a file.',
    { mask },
  ),
  'identity.oidc.redirect_url': setting(
    textSchema,
    '',
    'Address to which the provider sends browsers back, as it is registered there: https://NAME/api/v1/auth/oidc/callback.',
    ofMachine,
  ),
  'identity.oidc.scopes': setting(
    textSchema,
    'openid profile email',
    'Scopes to ask the provider for, separated by spaces.',
    ofMachine,
  ),
  'identity.oidc.groups_claim': setting(textSchema, 'groups', 'Claim that lists the groups of a person.', ofMachine),
  'identity.oidc.group_map': setting(
    textSchema,
    '',
    'Who may sign in, as JSON from groups of the provider to tenant and role: {"staff": "default:viewer", "admins": "default:admin"}. ' +
      'The first group that a person has decides the tenant; of the groups for that tenant the highest role counts.',
    ofMachine,
  ),
  'identity.oidc.default_access': setting(
    textSchema,
    '',
    'Tenant and role of people with no group of group_map, for example default:viewer. Empty: they may not sign in.',
    ofMachine,
  ),
  'identity.oidc.allowed_domains': setting(
    textSchema,
    '',
    'Only people whose e-mail address the provider has verified, and whose address is in one of these domains, separated by commas. Empty: any.',
    ofMachine,
  ),
  'identity.oidc.directory_claim': setting(
    textSchema,
    'sub',
    'Claim that holds the id under which SCIM provisions a person (externalId): sub, or oid for Entra ID. ' +
      'An account that SCIM made is found by it at the first sign-in.',
    ofMachine,
  ),
  'identity.oidc.label': setting(
    Type.String({ minLength: 1, maxLength: 100 }),
    'Sign in with single sign-on',
    'Text of the button on the login page.',
  ),
} as const;
