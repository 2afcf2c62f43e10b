/** Sign-in at a real provider. */
import t, { type Test } from 'tap';
import { ANONYMOUS, type Principal } from '../../platform/http/principal.ts';
import { FLOW_VALID_MS, FlowSeal } from './oidc/sign-in-flow.ts';
import { newToken } from './secrets/secret-token.ts';
import { Browser, type Visit } from './test-support/browser.ts';
import { type IdentityBed, openIdentity, ROOT_PASSWORD } from './test-support/identity-bed.ts';
import { CLIENT, type LocalProvider, REDIRECT_URL, startProvider } from './test-support/local-provider.ts';

const START = '/api/v1/auth/oidc/start';
const CALLBACK = '/api/v1/auth/oidc/callback';
const isCallback = ({ pathname }: URL): boolean => pathname === CALLBACK;

interface World {
  provider: LocalProvider;
  bed: IdentityBed;
  root: string;
  browser(): Browser;
  /** From the button to the end, as somebody. */
  signIn(subject: string, browser?: Browser, start?: string): Promise<Visit>;
}

async function openWorld(t: Test, settings: Record<string, unknown> = {}): Promise<World> {
  const provider = await startProvider(t);
  const bed = await openIdentity(t, {
    settings: {
      'identity.oidc.issuer': provider.issuer,
      'identity.oidc.client_id': CLIENT.id,
      'identity.oidc.client_secret': CLIENT.secret,
      'identity.oidc.redirect_url': REDIRECT_URL,
      'identity.oidc.group_map': JSON.stringify({ staff: 'default:developer', red: 'red:viewer', 'red-admins': 'red:admin' }),
      ...settings,
    },
  });
  const root = await bed.makeRoot();
  await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'red' } });
  const browser = (): Browser => new Browser(bed.url);
  return {
    provider,
    bed,
    root,
    browser,
    signIn: async (subject, used = browser(), start = START) => {
      provider.signInAs(subject);
      const departure = await used.open(start);
      return used.open(await used.follow(departure, isCallback));
    },
  };
}

async function whoami(bed: IdentityBed, browser: Browser) {
  return (await bed.ask('GET', '/api/v1/auth/whoami', { as: browser.cookie('svc_session') ?? '' })).body;
}

/** As the directory of the default tenant writes it. */
function provision(bed: IdentityBed, username: string, externalId: string, password?: string) {
  const caller: Principal = { ...ANONYMOUS, kind: 'key', roles: ['admin'] };
  const draft = { username, externalId, profile: '{}', isDisabled: false, email: undefined, password };
  return bed.module.api.provisioning.users.create(draft, { caller, remoteAddress: '', requestId: '' });
}

function refusal({ status, text }: Visit): [number, string, string | undefined] {
  const body = JSON.parse(text) as { error: string; reason?: string };
  return [status, body.error, body.reason];
}

t.test('the first sign-in makes an account, with the tenant and the role of the groups', async (t) => {
  const { provider, bed, root, browser, signIn } = await openWorld(t);
  provider.people.set('p-1', {
    groups: ['red', 'red-admins'],
    preferred_username: 'ann',
    email: 'ann@x.example',
    email_verified: true,
  });
  const used = browser();
  const end = await signIn('p-1', used, `${START}?return_to=${encodeURIComponent('/admin?a=1#b')}`);
  t.equal(end.status, 303);
  t.equal(end.headers.get('location'), '/admin?a=1#b');
  t.equal(end.headers.get('referrer-policy'), 'no-referrer');
  t.match(end.headers.getSetCookie().join('\n'), /svc_session=svcs_\S+; Path=\/; HttpOnly; SameSite=Lax/);
  t.equal(used.cookie('svc_sign_in'), undefined, 'the flow is over');
  t.match(await whoami(bed, used), { kind: 'user', user: { username: 'ann' }, tenant: 'red', role: 'admin' });
  const { body } = await bed.ask('GET', '/api/v1/identity/users?username=ann', { as: root });
  t.match(body.data, [{ email: 'ann@x.example', has_password: false, assigned_role: 'admin' }]);
  const log = JSON.stringify((await bed.ask('GET', '/api/v1/identity/audit', { as: root })).body);
  t.match(log, /"user.register".*"by":"oidc"/);
});

t.test('the second sign-in finds the account by issuer and subject, with role and groups as they are now', async (t) => {
  const { provider, bed, root, browser, signIn } = await openWorld(t);
  const group = async (name: string, external_id?: string) =>
    (await bed.ask('POST', '/api/v1/identity/groups', { as: root, body: { name, tenant: 'red', external_id } })).body
      .id as string;
  const [byName, byId, byHand] = [await group('Red'), await group('Writers', 'red-admins'), await group('By hand')];
  provider.people.set('p-1', { groups: ['red'], preferred_username: 'ann' });
  const used = browser();
  await signIn('p-1', used);
  const first = await whoami(bed, used);
  t.match(first, { role: 'viewer', tenant: 'red' });
  await bed.ask('POST', `/api/v1/identity/groups/${byHand}/members`, { as: root, body: { users: [first.user.id] } });
  const members = async (id: string) =>
    (await bed.ask('GET', `/api/v1/identity/groups/${id}/members`, { as: root })).body.data.length as number;
  t.strictSame([await members(byName), await members(byId), await members(byHand)], [1, 0, 1]);
  provider.people.set('p-1', {
    groups: ['red-admins', 'red-admins'],
    preferred_username: 'renamed',
    email: 'new@x.example',
    email_verified: true,
  });
  await signIn('p-1', used);
  const second = await whoami(bed, used);
  t.equal(second.user.id, first.user.id);
  t.match(second, { role: 'admin', user: { username: 'ann' } });
  t.strictSame([await members(byName), await members(byId), await members(byHand)], [0, 1, 1], 'who was put in by hand stays');
  provider.people.set('p-1', { groups: ['staff'] });
  t.strictSame(refusal(await signIn('p-1')), [403, 'oidc_not_authorized', 'no_group'], 'a group of another tenant moves nobody');
});

t.test('neither a name nor an address leads into an account that is there', async (t) => {
  const { provider, bed, root, browser, signIn } = await openWorld(t);
  await bed.ask('POST', '/api/v1/auth/register', {
    body: { username: 'bob', email: 'bob@x.example', password: ROOT_PASSWORD },
  });
  provider.people.set('p-2', { groups: ['staff'], preferred_username: 'BOB', email: 'Bob@x.example', email_verified: true });
  provider.people.set('p-3', { groups: ['staff'], preferred_username: 'root', email: 'root', email_verified: true });
  provider.people.set('p-4', { groups: ['staff'], email: 'carl@x.example', email_verified: false });
  for (const [subject, name] of [
    ['p-2', /^BOB-\w{6}$/],
    ['p-3', /^root-\w{6}$/],
    ['p-4', /^carl@x\.example$/],
  ] as const) {
    const used = browser();
    t.equal((await signIn(subject, used)).status, 303);
    t.match(await whoami(bed, used), { role: 'developer', user: { username: name } }, subject);
  }
  const { body } = await bed.ask('GET', '/api/v1/identity/users?limit=100', { as: root });
  t.equal(body.data.length, 5);
  const carl = body.data.find(({ username }: { username: string }) => username === 'carl@x.example');
  t.equal(carl.email, null, 'an address that nobody verified is not kept');
});

t.test('who is in no group that may sign in is refused, and so is a disabled account', async (t) => {
  const { provider, bed, root, browser, signIn } = await openWorld(t);
  provider.people.set('p-1', { groups: ['others'] });
  provider.people.set('p-2', { groups: ['staff'] });
  t.strictSame(refusal(await signIn('p-1')), [403, 'oidc_not_authorized', 'no_group']);
  const used = browser();
  await signIn('p-2', used);
  const { user } = await whoami(bed, used);
  await bed.ask('PATCH', `/api/v1/identity/users/${user.id}`, { as: root, body: { disabled: true } });
  t.strictSame(refusal(await signIn('p-2')), [403, 'account_disabled', undefined]);
  await bed.ask('DELETE', `/api/v1/identity/users/${user.id}`, { as: root });
  t.equal((await signIn('p-2', used)).status, 303, 'a deleted account is made anew');
  t.not((await whoami(bed, used)).user.id, user.id);
});

t.test('a default access and allowed domains', async (t) => {
  const settings = { 'identity.oidc.default_access': 'default:viewer', 'identity.oidc.allowed_domains': 'x.example, Y.example' };
  const { provider, bed, browser, signIn } = await openWorld(t, settings);
  provider.people.set('p-1', { email: 'ann@Y.EXAMPLE', email_verified: true });
  provider.people.set('p-2', { email: 'ann@x.example', email_verified: false });
  provider.people.set('p-3', { email: 'ann@evil.example', email_verified: true });
  provider.people.set('p-4', {});
  const used = browser();
  t.equal((await signIn('p-1', used)).status, 303);
  t.match(await whoami(bed, used), { role: 'viewer', tenant: 'default' });
  for (const subject of ['p-2', 'p-3', 'p-4']) {
    t.strictSame(refusal(await signIn(subject)), [403, 'oidc_not_authorized', 'domain_not_allowed'], subject);
  }
});

t.test('an account that a directory made is found by its id there, in the tenant of the groups only', async (t) => {
  const { provider, bed, browser, signIn } = await openWorld(t);
  const made = await provision(bed, 'ann@x.example', 'p-1');
  provider.people.set('p-1', { groups: ['red'] });
  const other = browser();
  await signIn('p-1', other);
  t.not((await whoami(bed, other)).user.id, made.id, 'the directory of one tenant takes nobody from another');
  await provision(bed, 'bob@x.example', 'p-2');
  provider.people.set('p-2', { groups: ['staff'], preferred_username: 'bob' });
  const used = browser();
  await signIn('p-2', used);
  t.match(await whoami(bed, used), { role: 'developer', user: { username: 'bob@x.example' } });
});

t.test('an owner links an account, whose role stays its own', async (t) => {
  const { provider, bed, root, browser, signIn } = await openWorld(t);
  const used = browser();
  used.setCookie('svc_session', root);
  provider.signInAs('p-1');
  const link = () => used.open('/api/v1/users/me/links', { method: 'POST', headers: { origin: bed.url } });
  const begun = await link();
  t.equal(begun.status, 200, begun.text);
  const { url } = JSON.parse(begun.text) as { url: string };
  const end = await used.open(await used.follow(await used.open(url), isCallback));
  t.equal(end.status, 303, end.text);
  t.equal(used.cookie('svc_session'), root, 'the session goes on');
  const signedIn = browser();
  await signIn('p-1', signedIn);
  t.match(await whoami(bed, signedIn), { role: 'superadmin', user: { username: 'root' } });
  const links = () => bed.ask('GET', '/api/v1/users/me/links', { as: root });
  t.match(await links(), { body: { data: [{ issuer: provider.issuer, subject: 'p-1' }] } });
  const again = JSON.parse((await link()).text) as { url: string };
  const second = await used.open(await used.follow(await used.open(again.url), isCallback));
  t.strictSame(refusal(second), [403, 'oidc_not_authorized', 'already_linked']);
  t.equal((await bed.ask('DELETE', '/api/v1/users/me/links', { as: root })).status, 204);
  t.match(await links(), { body: { data: [] } });
  t.match(await bed.ask('DELETE', '/api/v1/users/me/links', { as: root }), { status: 404, body: { error: 'link_not_found' } });
});

t.test('an account that the provider made cannot leave it, to keep a role', async (t) => {
  const { provider, bed, browser, signIn } = await openWorld(t);
  provider.people.set('p-1', { groups: ['red-admins'] });
  const used = browser();
  await signIn('p-1', used);
  const as = used.cookie('svc_session');
  t.match(await bed.ask('DELETE', '/api/v1/users/me/links', { as }), { status: 404, body: { error: 'link_not_found' } });
  provider.people.set('p-1', { groups: ['red'] });
  await signIn('p-1', browser());
  t.match(await whoami(bed, used), { role: 'viewer' }, 'the session that was open before has the new role too');
});

t.test('tries to come back are limited by address', async (t) => {
  const { provider, bed, browser } = await openWorld(t);
  const used = browser();
  const departure = await used.open(START);
  const state = new URL(departure.headers.get('location') ?? '').searchParams.get('state');
  const tries: Visit[] = [];
  for (let i = 0; i < 11; i += 1)
    tries.push(await used.open(`${CALLBACK}?code=guess${i}&state=${state}&iss=${encodeURIComponent(provider.issuer)}`));
  t.strictSame(refusal(tries[9] as Visit), [400, 'oidc_sign_in_failed', 'code_refused']);
  t.strictSame(refusal(tries[10] as Visit), [429, 'too_many_attempts', undefined]);
  t.ok(Number(tries[10]?.headers.get('retry-after')) > 0);
  t.equal((await bed.ask('GET', '/api/v1/auth/methods')).status, 200);
});

t.test('no directory provisions the account of a superadmin', async (t) => {
  const { provider, bed, browser, signIn } = await openWorld(t, {
    'identity.oidc.group_map': JSON.stringify({ owners: 'default:superadmin' }),
  });
  await provision(bed, 'planted', 'p-1', ROOT_PASSWORD);
  provider.people.set('p-1', { groups: ['owners'], preferred_username: 'ann' });
  const used = browser();
  await signIn('p-1', used);
  t.match(await whoami(bed, used), { role: 'superadmin', user: { username: 'ann' } });
});

t.test('a link that was begun in one session is not made in another', async (t) => {
  const { provider, bed, root, browser } = await openWorld(t);
  const { body: guest } = await bed.ask('POST', '/api/v1/auth/register', { body: { username: 'eve', password: ROOT_PASSWORD } });
  const used = browser();
  used.setCookie('svc_session', guest.token);
  provider.signInAs('p-1');
  const begun = await used.open('/api/v1/users/me/links', { method: 'POST', headers: { origin: bed.url } });
  const arrival = await used.follow(await used.open((JSON.parse(begun.text) as { url: string }).url), isCallback);
  used.setCookie('svc_session', root);
  t.strictSame(refusal(await used.open(arrival)), [403, 'oidc_not_authorized', 'already_linked']);
});

t.test('what a browser brings back must be what it left with', async (t) => {
  const { provider, bed, browser } = await openWorld(t);
  provider.people.set('p-1', { groups: ['staff'] });
  provider.signInAs('p-1');
  const used = browser();
  const arrive = async () => used.follow(await used.open(START), isCallback);
  const arrival = await arrive();
  t.strictSame(refusal(await browser().open(arrival)), [400, 'oidc_sign_in_failed', 'no_flow'], 'in another browser');
  const wrong = new URL(arrival);
  wrong.searchParams.set('state', 'x');
  t.strictSame(refusal(await used.open(wrong)), [400, 'oidc_sign_in_failed', 'wrong_state']);
  wrong.searchParams.delete('state');
  t.strictSame(refusal(await used.open(wrong)), [400, 'oidc_sign_in_failed', 'wrong_state']);
  const flow = used.cookie('svc_sign_in') ?? '';
  const end = await used.open(arrival);
  t.equal(end.status, 303, end.text);
  t.strictSame(refusal(await used.open(arrival)), [400, 'oidc_sign_in_failed', 'no_flow'], 'the flow is used up');
  used.setCookie('svc_sign_in', flow);
  t.strictSame(refusal(await used.open(arrival)), [400, 'oidc_sign_in_failed', 'code_refused'], 'and so is the code');
  const changed = Buffer.from(flow, 'base64url');
  changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1);
  for (const sealed of ['', 'x', changed.toString('base64url'), flow.slice(1), 'A'.repeat(5000), newToken('svcs_')]) {
    used.setCookie('svc_sign_in', sealed);
    t.strictSame(refusal(await used.open(arrival)), [400, 'oidc_sign_in_failed', 'no_flow']);
  }
  const state = arrival.searchParams.get('state') ?? '';
  const old = { state, nonce: 'n', verifier: 'v', returnTo: '/chat', linkUserId: undefined, expiresAt: Date.now() - 1 };
  used.setCookie('svc_sign_in', new FlowSeal(CLIENT.secret).seal(old));
  t.strictSame(refusal(await used.open(arrival)), [400, 'oidc_sign_in_failed', 'no_flow'], 'too late');
  used.setCookie('svc_sign_in', new FlowSeal('another').seal({ ...old, expiresAt: Date.now() + FLOW_VALID_MS }));
  t.strictSame(refusal(await used.open(arrival)), [400, 'oidc_sign_in_failed', 'no_flow'], 'sealed elsewhere');
  const denied = await arrive();
  denied.searchParams.delete('code');
  denied.searchParams.set('error', 'access_denied');
  denied.searchParams.set('error_description', '<script>');
  const visit = await used.open(denied);
  t.strictSame(refusal(visit), [400, 'oidc_sign_in_failed', 'provider_refused']);
  t.notMatch(visit.text, /script/);
  t.notOk(JSON.stringify(bed.lines()).includes(arrival.searchParams.get('code') ?? 'none'), 'no code in the log');
});

t.test('a code with the verifier of another flow is refused by the provider', async (t) => {
  const { provider, browser } = await openWorld(t);
  provider.people.set('p-1', { groups: ['staff'] });
  provider.signInAs('p-1');
  const [mine, theirs] = [browser(), browser()];
  const own = await mine.follow(await mine.open(START), isCallback);
  const foreign = await theirs.follow(await theirs.open(START), isCallback);
  own.searchParams.set('code', foreign.searchParams.get('code') ?? '');
  t.strictSame(refusal(await mine.open(own)), [400, 'oidc_sign_in_failed', 'code_refused'], 'a code that was injected');
});

t.test('browsers go on to paths of this server only', async (t) => {
  const { browser } = await openWorld(t);
  const start = (to: string) => browser().open(`${START}?return_to=${encodeURIComponent(to)}`);
  for (const to of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    'chat',
    '',
    'javascript:alert(1)',
    '/a\r\nset-cookie: x',
  ]) {
    t.strictSame(refusal(await start(to)), [400, 'invalid_return_to', undefined], JSON.stringify(to));
  }
  for (const to of ['/', '/chat', '/admin/x?y=//z#//w']) t.equal((await start(to)).status, 303, to);
});

t.test('browsers see the login page, and programs JSON', async (t) => {
  const { browser } = await openWorld(t);
  const visit = await browser().open(`${CALLBACK}?code=x&state=y`, { headers: { accept: 'text/html,*/*' } });
  t.equal(visit.status, 303);
  t.equal(visit.headers.get('location'), '/login?error=oidc_sign_in_failed&reason=no_flow');
});

t.test('a provider that is down', async (t) => {
  const { provider, bed, browser, signIn } = await openWorld(t);
  provider.people.set('p-1', { groups: ['staff'] });
  await signIn('p-1');
  const used = browser();
  provider.signInAs('p-1');
  const arrival = await used.follow(await used.open(START), isCallback);
  await provider.stop();
  const down = await used.open(arrival);
  t.strictSame(refusal(down), [503, 'oidc_provider_unreachable', undefined]);
  t.equal(down.headers.get('retry-after'), '5');
  const other = await bed.restart();
  t.strictSame(refusal(await new Browser(other.url).open(START)), [503, 'oidc_provider_unreachable', undefined]);
});

t.test('without a first account nobody comes in through the provider', async (t) => {
  const provider = await startProvider(t);
  const bed = await openIdentity(t, {
    settings: {
      'identity.oidc.issuer': provider.issuer,
      'identity.oidc.client_id': CLIENT.id,
      'identity.oidc.client_secret': CLIENT.secret,
      'identity.oidc.redirect_url': REDIRECT_URL,
      'identity.oidc.default_access': 'default:superadmin',
    },
  });
  const used = new Browser(bed.url);
  provider.signInAs('p-1');
  const visit = await used.open(await used.follow(await used.open(START), isCallback));
  t.strictSame(refusal(visit), [403, 'oidc_not_authorized', 'no_first_account']);
  t.equal(bed.module.api.authenticator.state(), 'off');
});

t.test('the last superadmin stays one, whatever the provider says', async (t) => {
  const { provider, bed, root, browser, signIn } = await openWorld(t, {
    'identity.oidc.group_map': JSON.stringify({ owners: 'default:superadmin', staff: 'default:viewer' }),
  });
  provider.people.set('p-1', { groups: ['owners'] });
  const used = browser();
  await signIn('p-1', used);
  const { user } = await whoami(bed, used);
  const own = (await bed.ask('GET', '/api/v1/auth/whoami', { as: root })).body.user.id;
  t.equal((await bed.ask('DELETE', `/api/v1/identity/users/${own}`, { as: used.cookie('svc_session') })).status, 204);
  provider.people.set('p-1', { groups: ['staff'] });
  await signIn('p-1', used);
  t.match(await whoami(bed, used), { role: 'superadmin', user: { id: user.id } });
});

t.test('a program’s account is no superadmin beside whom the last person can stop being one', async (t) => {
  const { provider, bed, root, browser, signIn } = await openWorld(t, {
    'identity.oidc.group_map': JSON.stringify({ owners: 'default:superadmin', staff: 'default:viewer' }),
  });
  provider.people.set('p-1', { groups: ['owners'] });
  const used = browser();
  await signIn('p-1', used);
  const program = { username: 'ci', role: 'superadmin', service: true };
  t.equal((await bed.ask('POST', '/api/v1/identity/users', { as: root, body: program })).status, 201);
  const own = (await bed.ask('GET', '/api/v1/auth/whoami', { as: root })).body.user.id;
  await bed.ask('DELETE', `/api/v1/identity/users/${own}`, { as: used.cookie('svc_session') });
  provider.people.set('p-1', { groups: ['staff'] });
  await signIn('p-1', used);
  t.match(await whoami(bed, used), { role: 'superadmin' });
});

t.test('how one can sign in, for the login page', async (t) => {
  const { bed } = await openWorld(t, { 'identity.oidc.label': 'Sign in with Example' });
  t.strictSame((await bed.ask('GET', '/api/v1/auth/methods')).body, {
    auth: 'enforce',
    password: true,
    reset_mail: false,
    oidc: { label: 'Sign in with Example', start: START },
    registration: { open: true, first_account: false, setup_code_needed: false },
  });
  const plain = await openIdentity(t, { settings: { 'identity.self_registration': 'closed' } });
  t.match((await plain.ask('GET', '/api/v1/auth/methods', { isPublic: true })).body, {
    auth: 'off',
    oidc: null,
    registration: { open: true, first_account: true, setup_code_needed: true },
  });
  t.match((await plain.ask('GET', '/api/v1/auth/methods')).body, { registration: { setup_code_needed: false } });
  t.match(await plain.ask('GET', START), { status: 404, body: { error: 'oidc_not_configured' } });
  t.match(await plain.ask('GET', CALLBACK), { status: 404, body: { error: 'oidc_not_configured' } });
});
