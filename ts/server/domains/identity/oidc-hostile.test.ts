/** Sign-in at a provider that is hostile or broken: nobody gets in, and each case has a clear answer. */
import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { Browser, type Visit } from './test-support/browser.ts';
import * as tokens from './test-support/hostile-provider.ts';
import { type IdentityBed, openIdentity } from './test-support/identity-bed.ts';
import { CLIENT, REDIRECT_URL } from './test-support/local-provider.ts';

const START = '/api/v1/auth/oidc/start';
const CALLBACK = '/api/v1/auth/oidc/callback';

interface World {
  hostile: tokens.HostileProvider;
  bed: IdentityBed;
  /** Begins a sign-in and comes back; the token is made of the claims that a good one would have. */
  signIn(make: (good: tokens.Claims) => string, query?: string): Promise<Visit>;
}

async function openWorld(t: Test, more: Record<string, unknown> = {}): Promise<World> {
  const hostile = await tokens.startHostileProvider(t);
  const bed = await openIdentity(t, {
    settings: {
      'identity.oidc.issuer': hostile.issuer,
      'identity.oidc.client_id': CLIENT.id,
      'identity.oidc.client_secret': CLIENT.secret,
      'identity.oidc.redirect_url': REDIRECT_URL,
      'identity.oidc.default_access': 'default:viewer',
      ...more,
    },
  });
  await bed.makeRoot();
  return {
    hostile,
    bed,
    signIn: async (make, query = 'code=x') => {
      const browser = new Browser(bed.url);
      const departure = await browser.open(START);
      if (departure.status !== 303) return departure;
      const asked = new URL(departure.headers.get('location') ?? '').searchParams;
      const now = Math.floor(Date.now() / 1000);
      const good = { iss: hostile.issuer, aud: CLIENT.id, sub: 'p-1', nonce: asked.get('nonce'), iat: now, exp: now + 60 };
      hostile.idToken = make(good);
      return browser.open(`${CALLBACK}?${query}&state=${asked.get('state')}`);
    },
  };
}

function refusal({ status, text }: Visit): [number, string] {
  return [status, text === '' ? '' : (JSON.parse(text) as { error: string }).error];
}

t.test('what the provider is asked', async (t) => {
  const { bed } = await openWorld(t);
  const departure = await new Browser(bed.url).open(START);
  const asked = new URL(departure.headers.get('location') ?? '').searchParams;
  t.match(Object.fromEntries(asked), {
    client_id: CLIENT.id,
    response_type: 'code',
    redirect_uri: REDIRECT_URL,
    scope: 'openid profile email',
    code_challenge_method: 'S256',
    code_challenge: /^[\w-]{43}$/,
    state: /^[\w-]{43}$/,
    nonce: /^[\w-]{43}$/,
  });
  t.match(departure.headers.get('set-cookie'), /^svc_sign_in=\S+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/);
  t.equal(departure.headers.get('cache-control'), 'no-store');
});

t.test('a good token lets in, so that the others fail for their fault alone', async (t) => {
  const { signIn } = await openWorld(t);
  t.equal((await signIn((good) => tokens.signedToken(good))).status, 303);
});

t.test('tokens that are not to be trusted', async (t) => {
  const { bed, signIn } = await openWorld(t);
  const now = Math.floor(Date.now() / 1000);
  const cases: [string, (good: tokens.Claims) => string][] = [
    ['alg none', (good) => tokens.unsignedToken(good)],
    ['alg none with a signature', (good) => tokens.signedToken(good, { alg: 'none', kid: 'one' })],
    ['signed with the client’s secret', (good) => tokens.symmetricToken(good, CLIENT.secret)],
    ['signed with another key', (good) => tokens.forgedToken(good)],
    ['a key that the provider does not have', (good) => tokens.signedToken(good, { alg: 'RS256', kid: 'two' })],
    [
      'changed after it was signed',
      (good) => tokens.signedToken(good).replace(/\.[\w-]+\./, (part) => `${part.slice(0, -3)}AA.`),
    ],
    ['another audience', (good) => tokens.signedToken({ ...good, aud: 'somebody' })],
    ['several audiences, without saying for whom', (good) => tokens.signedToken({ ...good, aud: [CLIENT.id, 'somebody'] })],
    ['for somebody else', (good) => tokens.signedToken({ ...good, aud: [CLIENT.id, 'other'], azp: 'other' })],
    ['another issuer', (good) => tokens.signedToken({ ...good, iss: 'http://127.0.0.1:2' })],
    ['expired', (good) => tokens.signedToken({ ...good, iat: now - 7200, exp: now - 3600 })],
    ['not valid yet', (good) => tokens.signedToken({ ...good, nbf: now + 3600 })],
    ['without an end', ({ exp: _, ...good }) => tokens.signedToken(good)],
    ['without a subject', ({ sub: _, ...good }) => tokens.signedToken(good)],
    ['of another flow', (good) => tokens.signedToken({ ...good, nonce: 'another' })],
    ['without a nonce', ({ nonce: _, ...good }) => tokens.signedToken(good)],
    ['no token', () => ''],
    ['no token at all', () => 'x.y.z'],
  ];
  for (const [what, make] of cases) t.strictSame(refusal(await signIn(make)), [502, 'oidc_provider_failed'], what);
  t.equal((await bed.ask('GET', '/api/v1/auth/methods')).status, 200);
});

t.test('a provider that says it signs nothing, or with shared secrets, is not believed more', async (t) => {
  for (const alg of ['none', 'HS256']) {
    const { hostile, signIn } = await openWorld(t, {});
    hostile.metadata = { id_token_signing_alg_values_supported: [alg, 'RS256'] };
    const make = (good: tokens.Claims) =>
      alg === 'none' ? tokens.unsignedToken(good) : tokens.symmetricToken(good, CLIENT.secret);
    t.strictSame(refusal(await signIn(make)), [502, 'oidc_provider_failed'], alg);
  }
});

t.test('a provider whose documents are broken', async (t) => {
  const say = (status: number, type: string, body: string) => (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': type });
    response.end(body);
  };
  const cases: [string, string, (response: ServerResponse) => void][] = [
    ['discovery is HTML', '/.well-known/openid-configuration', say(200, 'text/html', '<h1>')],
    ['discovery is no JSON', '/.well-known/openid-configuration', say(200, 'application/json', '{')],
    ['discovery is not there', '/.well-known/openid-configuration', say(404, 'application/json', '{}')],
    ['the token endpoint fails', '/token', say(500, 'text/html', 'error')],
    ['the token endpoint refuses the client', '/token', say(401, 'application/json', '{"error":"invalid_client"}')],
    ['the token endpoint says something strange', '/token', say(400, 'application/json', '{"error":"<script>"}')],
    ['the keys are broken', '/jwks', say(200, 'application/json', '{"keys":[{"kty":"RSA","kid":"one"}]}')],
  ];
  for (const [what, at, work] of cases) {
    const { hostile, bed, signIn } = await openWorld(t);
    hostile.answer = (path, response) => {
      if (path === at) work(response);
      return path === at;
    };
    const visit = await signIn((good) => tokens.signedToken(good));
    t.strictSame(refusal(visit), [502, 'oidc_provider_failed'], what);
    t.notMatch(visit.text, /script/);
    t.ok(
      bed.lines().some(({ code }) => code === 'oidc_provider_failed'),
      'the operator reads it in the log',
    );
    t.notMatch(JSON.stringify(bed.lines()), new RegExp(CLIENT.secret));
  }
});

t.test('a code that was used, and one that expired, are told from a broken provider', async (t) => {
  const { hostile, signIn } = await openWorld(t);
  hostile.answer = (path, response) => {
    if (path !== '/token') return false;
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"error":"invalid_grant","error_description":"used"}');
    return true;
  };
  t.strictSame(refusal(await signIn((good) => tokens.signedToken(good))), [400, 'oidc_sign_in_failed']);
});

t.test('another provider mixes itself in', async (t) => {
  const { hostile, bed, signIn } = await openWorld(t);
  hostile.metadata = { issuer: 'http://127.0.0.1:2' };
  t.strictSame(refusal(await signIn((good) => tokens.signedToken(good))), [502, 'oidc_provider_failed'], 'its documents');
  const second = await openWorld(t);
  const iss = `code=x&iss=${encodeURIComponent('http://127.0.0.1:2')}`;
  t.strictSame(
    refusal(await second.signIn((good) => tokens.signedToken(good), iss)),
    [502, 'oidc_provider_failed'],
    'its answer',
  );
  t.match(await bed.ask('GET', `${CALLBACK}?code=x&code=y&state=z`), { status: 400, body: { error: 'invalid_request' } });
});

t.test('groups that are elsewhere are not taken for none', async (t) => {
  const { signIn } = await openWorld(t);
  const visit = await signIn((good) =>
    tokens.signedToken({ ...good, _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://x' } } }),
  );
  t.strictSame(refusal(visit), [403, 'oidc_not_authorized']);
});

t.test('claims of wrong types are left out', async (t) => {
  const { bed, signIn } = await openWorld(t, {
    'identity.oidc.group_map': '{"[object Object]":"default:admin","1":"default:admin"}',
  });
  const wrong = {
    groups: [1, {}, null, ['x'], 'a'.repeat(600), 'b\0'],
    email: ['x'],
    email_verified: true,
    preferred_username: '\u0000x',
  };
  t.equal((await signIn((good) => tokens.signedToken({ ...good, ...wrong }))).status, 303);
  const log = JSON.stringify(bed.lines());
  t.notMatch(log, /undeclared_code|failed unexpectedly/);
});
