import t from 'tap';
import { identitySettings } from '../settings.ts';
import { oidcConfig } from './oidc-config.ts';

const defaults = Object.fromEntries(Object.entries(identitySettings).map(([key, { default: value }]) => [key, value]));
const good = {
  'identity.oidc.issuer': 'https://id.example',
  'identity.oidc.client_id': 'svc',
  'identity.oidc.client_secret': 'a secret',
  'identity.oidc.redirect_url': 'https://svc.example/api/v1/auth/oidc/callback',
};
const read = (more: Record<string, string>) =>
  oidcConfig({ ...defaults, ...good, ...more } as unknown as Parameters<typeof oidcConfig>[0]);

t.test('without an issuer there is no provider', async (t) => {
  t.equal(read({ 'identity.oidc.issuer': '' }), undefined);
});

t.test('a whole configuration', async (t) => {
  t.match(read({ 'identity.oidc.scopes': 'profile  openid groups', 'identity.oidc.allowed_domains': 'X.example, y.example' }), {
    clientId: 'svc',
    scopes: 'openid profile groups',
    allowedDomains: ['x.example', 'y.example'],
  });
  for (const issuer of ['http://localhost:9000', 'http://127.0.0.1:9000', 'http://[::1]:9000']) {
    t.equal(read({ 'identity.oidc.issuer': issuer })?.issuer.origin, issuer, 'the machine itself needs no TLS');
  }
});

t.test('a configuration that cannot work keeps the server from starting, with a remedy', async (t) => {
  for (const wrong of [
    { 'identity.oidc.issuer': 'http://id.example' },
    { 'identity.oidc.issuer': 'http://127.0.0.1.evil.example' },
    { 'identity.oidc.issuer': 'id.example' },
    { 'identity.oidc.issuer': 'https://user:password@id.example' },
    { 'identity.oidc.client_id': '' },
    { 'identity.oidc.client_secret': '' },
    { 'identity.oidc.directory_claim': '' },
    { 'identity.oidc.redirect_url': '' },
    { 'identity.oidc.redirect_url': 'http://svc.example/x' },
    { 'identity.oidc.group_map': '{' },
    { 'identity.oidc.group_map': '[]' },
    { 'identity.oidc.group_map': 'null' },
    { 'identity.oidc.group_map': '{"a":"default"}' },
    { 'identity.oidc.group_map': '{"a":1}' },
    { 'identity.oidc.group_map': '{"a":"default:king"}' },
    { 'identity.oidc.group_map': '{"a":"not a tenant:viewer"}' },
    { 'identity.oidc.default_access': 'viewer' },
  ]) {
    t.throws(() => read(wrong), { name: 'StartError', code: 'oidc_misconfigured', remedy: /\w/ }, JSON.stringify(wrong));
  }
  const both = { 'identity.oidc.client_id': '', 'identity.oidc.client_secret': 'very secret' };
  t.throws(() => read(both), { message: /^(?!.*very secret)/ }, 'the secret is not told');
});
