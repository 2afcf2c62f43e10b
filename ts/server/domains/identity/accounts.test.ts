import { type IncomingHttpHeaders, request } from 'node:http';
import t from 'tap';
import { AttemptLimit } from './accounts/attempt-limit.ts';
import { type IdentityBed, openIdentity, ROOT_PASSWORD } from './test-support/identity-bed.ts';

t.test('the first account becomes superadmin of the tenant default and switches authentication on for good', async (t) => {
  const bed = await openIdentity(t);
  t.equal(bed.module.api.authenticator.state(), 'off');
  const made = await bed.ask('POST', '/api/v1/auth/register', { body: { username: 'Ann', password: ROOT_PASSWORD } });
  t.equal(made.status, 201);
  t.match(made.body, { token: /^svcs_/, expires_at: /Z$/, user: { username: 'Ann', tenant: 'default', role: 'superadmin' } });
  t.match(made.headers.getSetCookie()[0], /^svc_session=svcs_\S+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/);
  t.equal(bed.module.api.authenticator.state(), 'enforce');
  t.equal((await bed.ask('GET', '/api/v1/policy/viewer')).status, 401);
  t.match(await bed.ask('GET', '/api/v1/policy/superadmin', { as: made.body.token }), { status: 200 });
  const again = await bed.restart();
  t.equal(again.module.api.authenticator.state(), 'enforce');
  t.match(await again.ask('GET', '/api/v1/policy/superadmin', { as: made.body.token }), { status: 200 });
});

t.test('an account that is no superadmin cannot be the first, since nobody could administer the node then', async (t) => {
  const bed = await openIdentity(t);
  const create = (body: object) => bed.ask('POST', '/api/v1/identity/users', { body });
  const refused = { status: 409, body: { error: 'superadmin_needed', detail: /svc admin create/ } };
  t.match(await create({ username: 'bob', role: 'viewer', password: ROOT_PASSWORD }), refused);
  t.match(await create({ username: 'ci', role: 'superadmin', service: true }), refused, 'nor can a program');
  t.match(await bed.ask('GET', '/api/v1/auth/methods'), { body: { auth: 'off' } });
  t.equal((await create({ username: 'ann', role: 'superadmin', password: ROOT_PASSWORD })).status, 201);
  t.match(await bed.ask('GET', '/api/v1/auth/methods'), { body: { auth: 'enforce' } });
});

t.test('of many first registrations at once exactly one becomes superadmin', async (t) => {
  const bed = await openIdentity(t);
  const made = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      bed.ask('POST', '/api/v1/auth/register', { body: { username: `user${i}`, password: ROOT_PASSWORD } }),
    ),
  );
  const roles = made.filter(({ status }) => status === 201).map(({ body }) => body.user.role as string);
  t.equal(roles.filter((role) => role === 'superadmin').length, 1, roles.join());
  t.equal(roles.filter((role) => role === 'viewer').length, roles.length - 1);
});

t.test('deleting the accounts does not switch authentication off', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const users = await bed.ask('GET', '/api/v1/identity/users', { as: root });
  const last = await bed.ask('DELETE', `/api/v1/identity/users/${users.body.data[0].id}`, { as: root });
  t.match(last, { status: 409, body: { error: 'last_superadmin' } });
  t.equal((await bed.restart()).module.api.authenticator.state(), 'enforce');
});

t.test('a stranger on the network needs the set-up code to make the first account', async (t) => {
  const bed = await openIdentity(t);
  const body = { username: 'stranger', password: ROOT_PASSWORD };
  const remote = { 'x-forwarded-for': '192.0.2.9' };
  t.match(await bed.ask('POST', '/api/v1/auth/register', { body, headers: remote }), {
    status: 401,
    body: { error: 'setup_code_needed' },
  });
  t.match(await bed.ask('POST', '/api/v1/auth/register', { body, isPublic: true }), { status: 401 });
  const wrong = { ...remote, 'x-svc-setup-code': 'x'.repeat(24) };
  t.match(await bed.ask('POST', '/api/v1/auth/register', { body, headers: wrong }), {
    status: 401,
    body: { error: 'invalid_credential' },
  });
  const code = bed.lines().find(({ setup_code }) => setup_code !== undefined)?.['setup_code'] as string;
  t.match(code, /^[0-9A-Za-z]{24}$/);
  const right = { ...remote, 'x-svc-setup-code': code };
  t.equal((await bed.ask('GET', '/api/v1/policy/admin', { headers: remote })).status, 401);
  t.equal((await bed.ask('GET', '/api/v1/policy/admin', { headers: right })).status, 200);
  t.equal((await bed.ask('GET', '/api/v1/policy/admin')).status, 200, 'on the machine itself no code is needed');
  t.match(await bed.ask('POST', '/api/v1/auth/register', { body, headers: right }), {
    status: 201,
    body: { user: { role: 'superadmin' } },
  });
  t.equal((await bed.ask('GET', '/api/v1/policy/admin', { headers: right })).status, 401, 'the code works no longer');
});

t.test('later registrations are viewers of the tenant default, unless registration is closed', async (t) => {
  const bed = await openIdentity(t);
  await bed.makeRoot();
  const register = (more: object) =>
    bed.ask('POST', '/api/v1/auth/register', { body: { username: 'bob', password: ROOT_PASSWORD, ...more } });
  t.match(await register({ tenant: 'acme' }), { status: 403 });
  t.match(await register({ email: 'bob@example.com' }), { status: 201, body: { user: { role: 'viewer', tenant: 'default' } } });
  t.match(await register({ username: 'BOB' }), { status: 409, body: { error: 'name_taken' } });
  t.match(await register({ username: 'other', email: 'Bob@Example.com' }), { status: 409 });
  t.match(await register({ username: 'weak', password: 'password1' }), { status: 400, body: { error: 'weak_password' } });
  t.match(await register({ username: '<script>' }), { status: 400, body: { error: 'invalid_request' } });
  const closed = await openIdentity(t, { settings: { 'identity.self_registration': 'closed' } });
  await closed.makeRoot();
  const refused = await closed.ask('POST', '/api/v1/auth/register', { body: { username: 'bob', password: ROOT_PASSWORD } });
  t.match(refused, { status: 403, body: { error: 'registration_closed' } });
});

t.test('sign-in with name or address, and one answer for a wrong password and an unknown name', async (t) => {
  const bed = await openIdentity(t);
  await bed.ask('POST', '/api/v1/auth/register', {
    body: { username: 'ann', password: ROOT_PASSWORD, email: 'ann@example.com' },
  });
  const login = (username: string, password = ROOT_PASSWORD) =>
    bed.ask('POST', '/api/v1/auth/login', { body: { username, password } });
  t.match(await login('ANN'), { status: 200, body: { token: /^svcs_/, user: { username: 'ann' } } });
  t.match(await login('ann@example.com'), { status: 200 });
  const wrong = await login('ann', 'not the password');
  const unknown = await login('nobody', 'not the password');
  t.equal(wrong.status, 401);
  t.equal(wrong.headers.get('www-authenticate'), 'Bearer');
  t.strictSame(wrong.body, unknown.body);
});

t.test('attempts are limited by account and by address, also for names without an account', async (t) => {
  let now = 0;
  const attempts = new AttemptLimit({ perClient: 3, perAccount: 30, perAddress: 5, windowMs: 60_000, now: () => now });
  const bed = await openIdentity(t, { overrides: { attempts } });
  await bed.makeRoot();
  const stranger = (username: string, password = 'wrong password') => signInFrom(bed, '127.0.0.9', { username, password });
  for (let i = 0; i < 2; i++) t.equal((await stranger('root')).status, 401);
  t.equal((await stranger('root', ROOT_PASSWORD)).status, 200, 'the right password in time');
  for (let i = 0; i < 3; i++) await stranger('root');
  t.match(await stranger('root', ROOT_PASSWORD), { status: 429, headers: { 'retry-after': '60' } });
  for (let i = 0; i < 3; i++) t.equal((await stranger('nobody')).status, 401);
  t.equal((await stranger('nobody')).status, 429, 'a name without an account has the same limit');
  t.equal((await stranger('someone')).status, 429, 'the address has tried too often');
  now = 60_000;
  t.equal((await stranger('root', ROOT_PASSWORD)).status, 200, 'nobody is locked out for good');
});

t.test('whoever guesses at an account locks out neither others, nor an address or a browser that signed in before', async (t) => {
  const bed = await openIdentity(t);
  await bed.makeRoot();
  const right = { username: 'root', password: ROOT_PASSWORD };
  const wrong = { username: 'root', password: 'wrong password' };
  for (let i = 0; i < 10; i++) t.equal((await signInFrom(bed, '127.0.0.9', wrong)).status, 401);
  t.equal((await signInFrom(bed, '127.0.0.9', right)).status, 429, 'the guesser has to wait');
  const elsewhere = await signInFrom(bed, '127.0.0.2', right);
  t.equal(elsewhere.status, 200, 'and nobody else');
  const device = elsewhere.cookies.find((cookie) => cookie.startsWith('svc_device='));
  t.match(device, /^svc_device=[^;]{40,}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=31536000$/);
  for (let i = 0; i < 40; i++) await signInFrom(bed, `127.0.1.${i % 8}`, wrong);
  t.equal((await signInFrom(bed, '127.0.0.77', right)).status, 429, 'guessing from many addresses is slow');
  const known = device?.split(';')[0] ?? '';
  t.equal((await signInFrom(bed, '127.0.0.77', right, known)).status, 200, 'a browser that signed in before');
  t.equal((await signInFrom(bed, '127.0.0.78', right, `${known}x`)).status, 429, 'whose cookie nobody can make');
  t.equal((await signInFrom(bed, '127.0.0.2', right)).status, 200, 'an address that signed in before');
  const next = await bed.restart();
  t.equal((await signInFrom(next, '127.0.0.77', right, known)).status, 200, 'a node that begins anew knows the browser');
});

t.test('invitations of many people at one address, and the right reset token, count as no mistakes', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const { body: invitation } = await bed.ask('POST', '/api/v1/identity/invitations', { as: root, body: { max_uses: 30 } });
  for (let i = 0; i < 15; i++) {
    const body = { username: `person${i}`, password: 'a long enough password', invitation: invitation.token };
    t.equal((await bed.ask('POST', '/api/v1/auth/register', { body })).status, 201);
  }
  const wrong = { username: 'newcomer', password: 'a long enough password', invitation: 'svci_unknown' };
  const tries: number[] = [];
  for (let i = 0; i < 11; i++) tries.push((await bed.ask('POST', '/api/v1/auth/register', { body: wrong })).status);
  t.strictSame(tries, [...Array<number>(10).fill(400), 429]);
});

t.test('accounts that one makes for oneself bring no more tries to make others', async (t) => {
  const bed = await openIdentity(t);
  await bed.makeRoot();
  const register = (username: string, cookie?: string) =>
    postFrom(bed, '127.0.0.9', '/api/v1/auth/register', { username, password: 'a long enough password' }, cookie);
  const made = await register('eve0');
  const device = made.cookies.find((cookie) => cookie.startsWith('svc_device='))?.split(';')[0] ?? '';
  t.match(device, /^svc_device=./);
  const tries: number[] = [];
  for (let i = 1; i < 11; i++) tries.push((await register(`eve${i}`, device)).status);
  t.strictSame(tries.slice(-2), [201, 429]);
});

t.test('a reset token sets the password once and ends the sessions', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const { body: user } = await bed.ask('POST', '/api/v1/identity/users', {
    as: root,
    body: { username: 'bob', role: 'developer' },
  });
  t.equal(user.has_password, false);
  const { body: reset } = await bed.ask('POST', `/api/v1/identity/users/${user.id}/password-reset`, { as: root });
  const use = (password: string, token: string = reset.token) =>
    bed.ask('POST', '/api/v1/auth/reset-password', { body: { token, password } });
  t.equal((await use('short')).status, 400);
  t.equal((await use('a new long password')).status, 204);
  t.match(await use('another password'), { status: 400, body: { error: 'invalid_reset_token' } });
  const login = (password: string) => bed.ask('POST', '/api/v1/auth/login', { body: { username: 'bob', password } });
  const session = (await login('a new long password')).body.token as string;
  t.equal((await bed.ask('GET', '/api/v1/policy/developer', { as: session })).status, 200);
  await bed.ask('PATCH', `/api/v1/identity/users/${user.id}`, { as: root, body: { password: 'yet another one' } });
  t.match(await bed.ask('GET', '/api/v1/policy/developer', { as: session }), {
    status: 401,
    body: { error: 'invalid_credential', reason: 'expired' },
  });
  t.equal((await login('a new long password')).status, 401);
  t.equal((await login('yet another one')).status, 200);
});

t.test('administrators reach their own tenant and no role above theirs; a foreign id looks like an unknown one', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const rootId = (await bed.ask('GET', '/api/v1/auth/whoami', { as: root })).body.user.id as string;
  for (const id of ['red', 'blue'])
    t.equal((await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id } })).status, 201);
  const make = async (username: string, tenant: string, role: string) =>
    (await bed.ask('POST', '/api/v1/identity/users', { as: root, body: { username, tenant, role, password: ROOT_PASSWORD } }))
      .body;
  const redAdmin = await make('red-admin', 'red', 'admin');
  const blueUser = await make('blue-user', 'blue', 'viewer');
  const redSuper = await make('red-super', 'red', 'superadmin');
  const admin = (await bed.ask('POST', '/api/v1/auth/login', { body: { username: 'red-admin', password: ROOT_PASSWORD } })).body
    .token;

  const shown = await bed.ask('GET', '/api/v1/identity/users', { as: admin });
  t.strictSame(shown.body.data.map(({ username }: { username: string }) => username).sort(), ['red-admin', 'red-super']);
  for (const [method, suffix, body] of [
    ['PATCH', '', { disabled: true }],
    ['DELETE', '', undefined],
    ['POST', '/api-key', undefined],
    ['POST', '/password-reset', undefined],
  ] as const) {
    const on = (id: string) => bed.ask(method, `/api/v1/identity/users/${id}${suffix}`, { as: admin, body });
    const plain = ({ status, body: { error, detail } }: Awaited<ReturnType<typeof on>>, id: string) => [
      status,
      error,
      detail.replace(id, 'ID'),
    ];
    t.strictSame(plain(await on(blueUser.id), blueUser.id), plain(await on('usr_none'), 'usr_none'), `${method} ${suffix}`);
    t.strictSame(plain(await on(rootId), rootId), plain(await on('usr_none'), 'usr_none'));
    t.match(await on(redSuper.id), { status: 403, body: { error: 'forbidden' } }, `${method} ${suffix} on a superadmin`);
  }
  const create = (body: object) => bed.ask('POST', '/api/v1/identity/users', { as: admin, body: { username: 'new', ...body } });
  t.match(await create({ role: 'superadmin' }), { status: 403 });
  t.match(await create({ role: 'viewer', tenant: 'blue' }), { status: 404, body: { error: 'tenant_not_found' } });
  t.match(await create({ role: 'viewer', tenant: 'nowhere' }), { status: 404, body: { error: 'tenant_not_found' } });
  t.match(await create({ role: 'admin' }), { status: 201, body: { tenant: 'red' } });
  t.match(await bed.ask('PATCH', `/api/v1/identity/users/${redAdmin.id}`, { as: admin, body: { role: 'superadmin' } }), {
    status: 403,
  });
  t.match(await bed.ask('POST', '/api/v1/identity/tenants', { as: admin, body: { id: 'green' } }), { status: 403 });
  t.strictSame(
    (await bed.ask('GET', '/api/v1/identity/tenants', { as: admin })).body.data.map(({ id }: { id: string }) => id),
    ['red'],
  );
});

t.test('a tenant with accounts is deleted with force only, and its keys stop', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'red', tokens_per_minute: 5, priority: true } });
  t.equal(bed.module.api.tenants.tokensPerMinute('red'), 5);
  t.equal(bed.module.api.tenants.allowsPriority('red'), true);
  t.equal(bed.module.api.tenants.allowsPriority('other'), false);
  await bed.ask('PATCH', '/api/v1/identity/tenants/red', { as: root, body: { tokens_per_minute: null, priority: false } });
  t.equal(bed.module.api.tenants.tokensPerMinute('red'), undefined);
  t.equal(bed.module.api.tenants.allowsPriority('red'), false);
  const { body: user } = await bed.ask('POST', '/api/v1/identity/users', {
    as: root,
    body: { username: 'bob', tenant: 'red', role: 'viewer' },
  });
  const { body: key } = await bed.ask('POST', `/api/v1/identity/users/${user.id}/api-key`, { as: root });
  t.equal((await bed.ask('POST', '/v1/chat/completions', { as: key.api_key })).body.caller.tenant, 'red');
  t.match(await bed.ask('DELETE', '/api/v1/identity/tenants/red', { as: root }), {
    status: 409,
    body: { error: 'tenant_not_empty' },
  });
  t.equal((await bed.ask('DELETE', '/api/v1/identity/tenants/red?force=true', { as: root })).status, 204);
  t.match(await bed.ask('GET', '/api/v1/policy/viewer', { as: key.api_key }), {
    status: 401,
    body: { reason: 'api_key_revoked' },
  });
  t.match(await bed.ask('DELETE', '/api/v1/identity/tenants/default', { as: root }), { status: 403 });
});

t.test('settings and sessions of one’s own', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const second = (await bed.ask('POST', '/api/v1/auth/login', { body: { username: 'root', password: ROOT_PASSWORD } })).body
    .token;
  t.strictSame((await bed.ask('GET', '/api/v1/users/me/settings', { as: root })).body, {});
  t.equal((await bed.ask('PUT', '/api/v1/users/me/settings', { as: root, body: { theme: 'dark' } })).status, 200);
  t.strictSame((await bed.ask('GET', '/api/v1/users/me/settings', { as: second })).body, { theme: 'dark' });
  const sessions = (await bed.ask('GET', '/api/v1/users/me/sessions', { as: root })).body.data as {
    id: string;
    current: boolean;
  }[];
  t.equal(sessions.length, 2);
  const own = sessions.find(({ current }) => current);
  const ended = await bed.ask('DELETE', `/api/v1/users/me/sessions/${own?.id}`, { as: root });
  t.equal(ended.status, 204);
  t.match(ended.headers.get('set-cookie'), /^svc_session=; .*Max-Age=0/);
  t.equal((await bed.ask('GET', '/api/v1/auth/whoami', { as: root })).status, 401, 'the session is over at once');
  t.equal((await bed.ask('GET', '/api/v1/auth/whoami', { as: second })).status, 200);
  t.match(await bed.ask('DELETE', `/api/v1/users/me/sessions/${own?.id}`, { as: second }), { status: 404 });
});

t.test('what the interface does not serve is a plain 404', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  for (const path of ['auth/logout', 'auth/refresh', 'auth/second-factor', 'me/settings', 'identity/me', 'identity/register']) {
    const answer = await bed.ask('POST', `/api/v1/${path}`, { as: root });
    t.match(answer, { status: 404, body: { error: 'not_found' } }, path);
    t.notOk('module' in answer.body, path);
    t.equal((await bed.ask('POST', `/api/v1/${path}`)).status, 401, `${path} without a credential`);
  }
  t.match(await bed.ask('GET', '/api/v1/identity/local-unknown', { as: root }), { status: 200, body: { data: [] } });
});

interface SignedIn {
  status: number;
  headers: IncomingHttpHeaders;
  cookies: string[];
}

function signInFrom(bed: IdentityBed, localAddress: string, body: object, cookie?: string): Promise<SignedIn> {
  return postFrom(bed, localAddress, '/api/v1/auth/login', body, cookie);
}

/** All of 127.0.0.0/8 is this machine, so a client can come from any address of it. */
function postFrom({ url }: IdentityBed, localAddress: string, path: string, body: object, cookie?: string): Promise<SignedIn> {
  const headers = {
    'content-type': 'application/json',
    ...(cookie !== undefined && { cookie, 'sec-fetch-site': 'same-origin' }),
  };
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, { method: 'POST', localAddress, headers, agent: false }, (answer) => {
      answer.resume();
      const { statusCode = 0, headers } = answer;
      answer.on('end', () => resolve({ status: statusCode, headers, cookies: headers['set-cookie'] ?? [] }));
    });
    asked.on('error', reject);
    asked.end(JSON.stringify(body));
  });
}
