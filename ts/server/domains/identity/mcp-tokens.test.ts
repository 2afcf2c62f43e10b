/** Access tokens of a real provider at `/mcp`. */
import t, { type Test } from 'tap';
import Type from 'typebox';
import { json, route } from '../../platform/http/route.ts';
import { Browser } from './test-support/browser.ts';
import { openIdentity } from './test-support/identity-bed.ts';
import { CLIENT, REDIRECT_URL, startProvider } from './test-support/local-provider.ts';

const AUDIENCE = 'https://ai.example/mcp';
const START = '/api/v1/auth/oidc/start';

/** Answers who is calling, in the place of the MCP server. */
const mcp = route({
  method: 'GET',
  path: '/mcp',
  auth: 'viewer',
  scope: 'tools:use',
  maxBody: 0,
  tag: 'MCP',
  summary: 'Who is calling',
  challenge: 'Bearer resource_metadata="https://ai.example/m"',
  responses: { 200: Type.Unknown() },
  handle: ({ caller }) => json(200, caller),
});

async function openWorld(t: Test, publicUrl = 'https://ai.example/') {
  const provider = await startProvider(t);
  const bed = await openIdentity(t, {
    settings: {
      'identity.oidc.issuer': provider.issuer,
      'identity.oidc.client_id': CLIENT.id,
      'identity.oidc.client_secret': CLIENT.secret,
      'identity.oidc.redirect_url': REDIRECT_URL,
      'identity.oidc.group_map': JSON.stringify({ staff: 'default:developer' }),
      'edge.public_url': publicUrl,
    },
    routes: [mcp],
  });
  const root = await bed.makeRoot();
  provider.people.set('p-1', { groups: ['staff'], preferred_username: 'ann' });
  provider.signInAs('p-1');
  const browser = new Browser(bed.url);
  const departure = await browser.open(START);
  await browser.open(await browser.follow(departure, ({ pathname }) => pathname === '/api/v1/auth/oidc/callback'));
  const { body } = await bed.ask('GET', '/api/v1/identity/users?username=ann', { as: root });
  const [{ id }] = body.data as [{ id: string }];
  const call = (token: string, path = '/mcp') => bed.ask('GET', path, { as: token });
  return { provider, bed, root, id, call };
}

t.test('a token for this resource is its person, with little of what the person may do, as the account is now', async (t) => {
  const { provider, bed, root, id, call } = await openWorld(t);
  t.match(bed.module.api.protectedResource, {
    audience: AUDIENCE,
    metadataUrl: 'https://ai.example/.well-known/oauth-protected-resource/mcp',
  });
  const token = await provider.accessToken('p-1', AUDIENCE);
  const answer = await call(token);
  t.match(answer, { status: 200, body: { subject: id, tenant: 'default', kind: 'token', roles: ['developer'] } });
  t.strictSame(answer.body.scopes, ['knowledge:read', 'tools:use']);
  t.ok(answer.body.expiresAt > Date.now());
  await bed.ask('PATCH', `/api/v1/identity/users/${id}`, { as: root, body: { role: 'viewer' } });
  t.match((await call(token)).body, { roles: ['viewer'] });
  await bed.ask('PATCH', `/api/v1/identity/users/${id}`, { as: root, body: { disabled: true } });
  t.match(await call(token), { status: 401, body: { error: 'invalid_credential' } });
});

t.test('a token of another audience, person, signature or path is refused', async (t) => {
  const { provider, call } = await openWorld(t);
  const good = await provider.accessToken('p-1', AUDIENCE);
  const [head = '', body = '', signature = ''] = good.split('.');
  const forged = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), sub: 'p-2' }));
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url');
  const refused = {
    'another resource': await provider.accessToken('p-1', 'https://other.example/mcp'),
    'a person without an account': await provider.accessToken('p-2', AUDIENCE),
    'an expired one': await provider.accessToken('p-1', AUDIENCE, -3_600),
    'changed words': `${head}.${forged.toString('base64url')}.${signature}`,
    'no signature': `${unsigned}.${body}.${signature}`,
  };
  for (const [name, token] of Object.entries(refused)) {
    const answer = await call(token);
    t.match(answer, { status: 401, body: { error: 'invalid_credential' } }, name);
    t.equal(answer.headers.get('www-authenticate'), 'Bearer resource_metadata="https://ai.example/m"');
  }
  t.equal((await call(good)).status, 200);
  t.equal((await call(good, '/api/v1/auth/whoami')).status, 401, 'a token for the MCP server opens nothing else');
  await provider.stop();
  t.equal((await call(good)).status, 200, 'the keys of the provider are known');
});

t.test('without edge.public_url no token is for this node', async (t) => {
  const { provider, bed, call } = await openWorld(t, '');
  t.equal(bed.module.api.protectedResource, undefined);
  t.equal((await call(await provider.accessToken('p-1', AUDIENCE))).status, 401);
});
