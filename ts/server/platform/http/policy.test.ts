import t from 'tap';
import type { AuthenticationState, Authenticator } from './authenticator.ts';
import { HttpError } from './errors.ts';
import type { ListenerName } from './listen/listener-name.ts';
import { ANY_CREDENTIAL, POLICIES, type Policy, type PolicyName, requireAllowed } from './policy.ts';
import { ANONYMOUS, type Principal, type Role } from './principal.ts';
import { OK, openTestBed, plainRoute, RawClient } from './test-support/test-bed.ts';

const user = (role: Role | undefined, scopes: readonly string[] = ['*']): Principal => ({
  tenant: 't',
  subject: 'ann',
  kind: 'key',
  roles: role === undefined ? [] : [role],
  scopes,
  keyId: 'k1',
});

interface From {
  listener?: ListenerName;
  remoteAddress?: string;
  headers?: Record<string, string>;
}

/** The code of the refusal, or `ok`. */
function judge(policy: Policy, principal: Principal, state: AuthenticationState, from: From = {}, scope?: string): string {
  const { listener = 'internal', remoteAddress = '192.0.2.7', headers = {} } = from;
  const source = { listener, remoteAddress, headers: new Map(Object.entries(headers)), path: '/' };
  try {
    requireAllowed(policy, scope, principal, source, state);
    return 'ok';
  } catch (error) {
    return error instanceof HttpError ? `${error.status}` : String(error);
  }
}

const names = Object.keys(POLICIES) as PolicyName[];
const row = (principal: Principal, state: AuthenticationState, from: From = {}): string[] =>
  names.map((name) => judge(POLICIES[name], principal, state, from));

t.test('the table of who may call', (t) => {
  t.strictSame(names, ['open', 'local', 'viewer', 'developer', 'admin', 'superadmin']);
  const machine = { remoteAddress: '127.0.0.1' };
  const cases: [what: string, row: string[], expected: string[]][] = [
    ['off, internal, another machine', row(ANONYMOUS, 'off'), ['ok', 'ok', 'ok', 'ok', '401', '401']],
    ['off, internal, this machine', row(ANONYMOUS, 'off', machine), ['ok', 'ok', 'ok', 'ok', 'ok', 'ok']],
    ['off, public', row(ANONYMOUS, 'off', { listener: 'public', ...machine }), ['ok', '401', '401', '401', '401', '401']],
    ['off, a credential with the role', row(user('superadmin'), 'off'), ['ok', 'ok', 'ok', 'ok', 'ok', 'ok']],
    ['off, a credential without it', row(user('viewer'), 'off'), ['ok', 'ok', 'ok', 'ok', '403', '403']],
    ['enforced, internal', row(ANONYMOUS, 'enforce', machine), ['ok', 'ok', '401', '401', '401', '401']],
    ['enforced, public', row(ANONYMOUS, 'enforce', { listener: 'public' }), ['ok', '401', '401', '401', '401', '401']],
    ['no role', row(user(undefined), 'enforce'), ['ok', 'ok', '403', '403', '403', '403']],
    ['viewer', row(user('viewer'), 'enforce'), ['ok', 'ok', 'ok', '403', '403', '403']],
    ['developer', row(user('developer'), 'enforce'), ['ok', 'ok', 'ok', 'ok', '403', '403']],
    ['admin', row(user('admin'), 'enforce', { listener: 'public' }), ['ok', 'ok', 'ok', 'ok', 'ok', '403']],
    ['superadmin', row(user('superadmin'), 'enforce'), ['ok', 'ok', 'ok', 'ok', 'ok', 'ok']],
  ];
  for (const [what, actual, expected] of cases) t.strictSame(actual, expected, what);
  t.end();
});

t.test('a path that no route claims needs any credential, once one is needed at all', (t) => {
  t.equal(judge(ANY_CREDENTIAL, ANONYMOUS, 'off'), 'ok');
  t.equal(judge(ANY_CREDENTIAL, ANONYMOUS, 'enforce'), '401');
  t.equal(judge(ANY_CREDENTIAL, user(undefined), 'enforce'), 'ok');
  t.end();
});

t.test('a scope is needed beside the role', (t) => {
  const { viewer } = POLICIES;
  t.equal(judge(viewer, user('admin', []), 'enforce', {}, 'data:read'), '403');
  t.equal(judge(viewer, user('admin', ['data:write']), 'enforce', {}, 'data:read'), '403');
  t.equal(judge(viewer, user('viewer', ['data:read']), 'enforce', {}, 'data:read'), 'ok');
  t.equal(judge(viewer, user('viewer'), 'enforce', {}, 'data:read'), 'ok', '* stands for every scope');
  t.equal(judge(viewer, ANONYMOUS, 'off', {}, 'data:read'), 'ok');
  t.end();
});

t.test('this machine is a loopback address that no proxy speaks for', (t) => {
  const admin = (remoteAddress: string, headers = {}): string =>
    judge(POLICIES.admin, ANONYMOUS, 'off', { remoteAddress, headers });
  for (const address of ['127.0.0.1', '127.8.8.8', '::1', '0000:0000:0000:0000:0000:0000:0000:0001', '::ffff:127.0.0.1']) {
    t.equal(admin(address), 'ok', address);
  }
  for (const address of ['10.0.0.1', '128.0.0.1', '::2', 'fe80::1', '::ffff:10.0.0.1', '', 'localhost']) {
    t.equal(admin(address), '401', address);
  }
  for (const header of ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']) {
    t.equal(admin('127.0.0.1', { [header]: '127.0.0.1' }), '401', header);
  }
  t.end();
});

const accounts: Authenticator = {
  state: () => 'enforce',
  authenticate: async ({ headers }) => {
    const key = headers.get('x-api-key');
    if (key === 'wrong') throw new HttpError(401, 'invalid_credential', 'Unknown key.', { extra: { reason: 'api_key_unknown' } });
    return key === undefined ? ANONYMOUS : user('viewer');
  },
};

const routes = [
  ...names.map((auth) => plainRoute('GET', `/api/v1/${auth}`, () => OK, { auth })),
  plainRoute('POST', '/api/v1/things', () => OK),
  plainRoute('GET', '/api/v1/things/{id}', () => OK),
];

t.test('over a socket', async (t) => {
  const enforced = await openTestBed(t, routes, { authenticator: accounts });
  const off = await openTestBed(t, routes);
  const statuses = (base: string, headers: Record<string, string> = {}): Promise<number[]> =>
    Promise.all([...names, 'missing'].map(async (name) => (await fetch(`${base}/api/v1/${name}`, { headers })).status));

  t.strictSame(await statuses(off.url), [200, 200, 200, 200, 200, 200, 404]);
  t.strictSame(await statuses(off.publicUrl), [200, 401, 401, 401, 401, 401, 401]);
  t.strictSame(await statuses(off.url, { 'x-svc-public-edge': '1' }), [200, 401, 401, 401, 401, 401, 401], 'the mark tightens');
  t.strictSame(
    await statuses(off.publicUrl, { 'x-svc-public-edge': '0' }),
    [200, 401, 401, 401, 401, 401, 401],
    'it cannot loosen',
  );
  t.strictSame(await statuses(off.url, { 'x-forwarded-for': '192.0.2.7' }), [200, 200, 200, 200, 401, 401, 404]);
  t.strictSame(await statuses(enforced.url), [200, 200, 401, 401, 401, 401, 401], 'a missing route looks like any other');
  t.strictSame(await statuses(enforced.url, { 'x-api-key': 'ann' }), [200, 200, 200, 403, 403, 403, 404]);
  const refused = await fetch(`${enforced.url}/api/v1/viewer`, { headers: { 'x-api-key': 'wrong' } });
  t.match(await refused.json(), { error: 'invalid_credential', reason: 'api_key_unknown' });
  t.equal(refused.status, 401);
  t.equal(refused.headers.get('www-authenticate'), 'Bearer');
});

t.test('on the native API the credential is judged before anything about the route', async (t) => {
  const { port } = await openTestBed(t, routes, { authenticator: accounts });
  const cases: [what: string, request: string, withKey: number][] = [
    ['a method that the path does not serve', 'DELETE /api/v1/things', 405],
    ['a missing path', 'GET /api/v1/nothing', 404],
    ['a bad percent escape', 'GET /api/v1/things/%zz', 400],
    ['a body over the limit', 'POST /api/v1/things HTTP/1.1\r\nContent-Length: 5000', 413],
    ['a chunked body over the limit', 'POST /api/v1/things HTTP/1.1\r\nTransfer-Encoding: chunked', 413],
  ];
  for (const [what, start, withKey] of cases) {
    const [line, ...fields] = start.split('\r\n');
    const body = start.includes('Length')
      ? 'x'.repeat(5000)
      : start.includes('chunked')
        ? `1388\r\n${'x'.repeat(5000)}\r\n0\r\n\r\n`
        : '';
    const status = async (key: string[]): Promise<string | undefined> => {
      const client = await RawClient.open(t, port);
      const head = [
        line?.includes('HTTP') ? line : `${line} HTTP/1.1`,
        'Host: a',
        ...fields,
        ...key,
        'Connection: close',
        '',
        '',
      ];
      client.send(head.join('\r\n') + body);
      return /^HTTP\/1\.1 (\d+)/.exec(await client.until((text) => text.includes('\r\n\r\n')))?.[1];
    };
    t.equal(await status([]), '401', what);
    t.equal(await status(['X-API-Key: wrong']), '401', `${what}, with a refused key`);
    t.equal(await status(['X-API-Key: ann']), String(withKey), `${what}, with a key`);
  }
});

t.test('a preflight on the native API does not tell which paths exist', async (t) => {
  const { url } = await openTestBed(t, routes, { authenticator: accounts });
  const allow = async (path: string): Promise<string | null> =>
    (await fetch(url + path, { method: 'OPTIONS', headers: { origin: 'https://page.example' } })).headers.get('allow');
  t.equal(await allow('/api/v1/things'), await allow('/api/v1/nothing'));
});
