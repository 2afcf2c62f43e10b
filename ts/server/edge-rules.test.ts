/**
 * Rules 3 to 9 of the interface's authentication part as one table, walked whole against the real program: listener x X-Svc-Public-Edge x
 * kind of credential x state of authentication x path.
 */
import { mkdirSync } from 'node:fs';
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CAPABILITY_SCOPES } from './domains/identity/accounts/scopes.ts';
import { newApiKey } from './domains/identity/credentials/api-key.ts';
import { newToken } from './domains/identity/secrets/secret-token.ts';
import { createServer, type Server } from './main.ts';
import { modules } from './modules.ts';
import { newFolder } from './platform/files/test-support/new-folder.ts';
import { createSelfSigned } from './platform/http/self-signed.ts';
import { defineModule } from './platform/module/module.ts';
import type { Storage } from './platform/storage/index.ts';
import { loadNodeConfig } from './settings.ts';

type Headers = Record<string, string | string[]>;
type State = 'off' | 'enforce';

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests match what they expect
  body: any;
}

interface Listener {
  name: 'internal' | 'public';
  send(method: string, path: string, headers: Headers, body?: string): Promise<Answer>;
}

/** Who needs a credential: nobody, and none is looked at; nobody; whoever comes through the public edge; everybody once authentication is on. */
type Guard = 'never' | 'open' | 'edge' | 'always';

const paths: Record<string, Guard> = {
  'GET /health': 'edge',
  'GET /metrics': 'edge',
  'HEAD /health': 'edge',
  'GET /api/v1/system/version': 'edge',
  'POST /v1/chat/completions': 'always',
  'GET /v1/chat/completions': 'always',
  'POST /v1/completions': 'always',
  'POST /v1/embeddings': 'always',
  'POST /v1/cloud/embeddings': 'always',
  'POST /v1/inference/embeddings': 'always',
  'POST /v1/messages': 'always',
  'GET /v1/models': 'open',
  'GET /livez': 'never',
  'OPTIONS /v1/chat/completions': 'never',
  'OPTIONS /api/v1/models': 'never',
  'GET /docs': 'open',
  'GET /api/v1/models': 'always',
  'DELETE /api/v1/models': 'always',
  'GET /api/v1/nothing': 'always',
  'GET /api/v1/auth/nothing': 'always',
  'GET /api/v1/%zz': 'always',
};
/** Rule 4 names these as well; until a module serves them they are missing routes of the native API. */
const laterPaths = ['/api/v1/system/incidents', '/api/v1/license/health', '/api/v1/cloud/backends/public'];

/** What a proxy, or a client, may write, and whether it makes a request public. */
const marks: [value: string | string[] | undefined, tightens: boolean][] = [
  [undefined, false],
  ['1', true],
  [' 1 ', true],
  [['0', '1'], true],
  [['1', '0'], true],
  ['0', false],
  ['yes', false],
  ['', false],
  ['internal', false],
];

/** `none`: the request counts as one without a credential. Otherwise the reason of the refusal. */
type Fate =
  | 'good'
  | 'none'
  | 'api_key_revoked'
  | 'api_key_unknown'
  | 'bad_encoding'
  | 'bad_signature'
  | 'unknown_key'
  | 'expired'
  /** It could not be judged, as the accounts cannot be read: 503, and no reason. */
  | 'unchecked';

interface Credential {
  what: string;
  headers: Headers;
  /** While authentication is on. */
  fate: Fate;
}

/** The folder of a program that was stopped may be given, and it is the same node then. */
async function openProgram(t: Test, more: Record<string, string> = {}, folder = newFolder(t, ['models'])) {
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir, { recursive: true });
  const { certFile, keyFile } = await createSelfSigned({ folder: join(newFolder(t), 'tls') });
  const environment = {
    SVC_DATA_DIR: dataDir,
    SVC_LISTEN: '127.0.0.1:0',
    SVC_PUBLIC_LISTEN: '127.0.0.1:0',
    SVC_MODELS_DIR: join(folder, 'models'),
    SVC_DEFAULT_MODEL: 'none',
    SVC_FORCE_CPU_FEATURES: 'none',
    SVC_PUBLIC_TLS_CERT: certFile,
    SVC_PUBLIC_TLS_KEY: keyFile,
    ...more,
  };
  const { definition, closeDatabase } = databaseCloser();
  const server = await createServer(loadNodeConfig({ root: folder, environment }), {
    modules: [...modules.filter(({ name }) => name !== definition.name), definition],
    sink: { write: () => {}, flush: () => {} },
  });
  const addresses = await server.start();
  const agents = [
    new HttpAgent({ keepAlive: true, maxSockets: 16 }),
    new HttpsAgent({ keepAlive: true, maxSockets: 16, rejectUnauthorized: false }),
  ] as const;
  let stopping: Promise<unknown> | undefined;
  const stop = async (): Promise<void> => {
    for (const agent of agents) agent.destroy();
    stopping ??= server.stop();
    await stopping;
  };
  t.teardown(stop);
  const internal: Listener = {
    name: 'internal',
    send: (...said) => send(httpRequest, agents[0], addresses.internal.port, ...said),
  };
  const outside: Listener = {
    name: 'public',
    send: (...said) => send(httpsRequest, agents[1], addresses.public?.port ?? 0, ...said),
  };
  return { folder, server, internal, outside, closeDatabase, stop };
}

/** A module in the place of one that no other uses, which can take the database from the others while the node runs. */
function databaseCloser() {
  let storage: Storage | undefined;
  const definition = defineModule({
    name: 'science',
    settings: {},
    create: (context) => {
      storage = context.storage;
      const idle = async () => undefined;
      return {
        api: undefined,
        routes: [],
        start: idle,
        stop: idle,
        health: () => ({ state: {}, reasons: [] }),
        ready: () => undefined,
      };
    },
  });
  return { definition, closeDatabase: async () => void (await storage?.close()) };
}

function send(
  open: typeof httpRequest | typeof httpsRequest,
  agent: HttpAgent | HttpsAgent,
  port: number,
  method: string,
  path: string,
  headers: Headers,
  body = '',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = method === 'POST' ? { 'content-length': String(Buffer.byteLength(body)) } : {};
    const request = open(
      { host: '127.0.0.1', port, method, path, headers: { ...headers, ...length }, agent: agent as HttpAgent },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = response.headers['content-type']?.startsWith('application/json') && text !== '';
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: isJson ? JSON.parse(text) : text });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** A superadmin with each kind of credential, and each kind of refused one. */
async function makeCredentials({ send }: Listener): Promise<Credential[]> {
  const json = { 'content-type': 'application/json' };
  const post = async (path: string, headers: Headers, body: object) =>
    (await send('POST', path, { ...headers, ...json }, JSON.stringify(body))).body;
  const root = await post('/api/v1/auth/register', {}, { username: 'root', password: 'correct horse battery' });
  const as = { authorization: `Bearer ${root.token}` };
  const key = (await post('/api/v1/identity/keys', as, { name: 'good' })).api_key as string;
  const revoked = await post('/api/v1/identity/keys', as, { name: 'revoked' });
  await send('DELETE', `/api/v1/identity/keys/${revoked.id}`, as);
  const short = (await post('/api/v1/identity/keys', as, { name: 'short', expires_in_seconds: 1 })).api_key as string;
  const ended = (await post('/api/v1/auth/login', {}, { username: 'root', password: 'correct horse battery' })).token as string;
  const { body: sessions } = await send('GET', '/api/v1/users/me/sessions', { authorization: `Bearer ${ended}` });
  const own = (sessions.data as { id: string; current: boolean }[]).find(({ current }) => current);
  await send('DELETE', `/api/v1/users/me/sessions/${own?.id}`, { authorization: `Bearer ${ended}` });
  const capability = async (owner: Headers, seconds = 3600) =>
    await post('/api/v1/identity/capabilities', owner, { scopes: CAPABILITY_SCOPES, expires_in_seconds: seconds });
  const good = (await capability(as)).token as string;
  const brief = (await capability(as, 1)).token as string;
  const taken = await capability(as);
  await post('/api/v1/identity/capabilities/revoke', as, { id: taken.id });
  await refused(send, { 'x-api-key': short });
  await refused(send, { authorization: `Bearer ${brief}` });
  return [
    { what: 'nothing', headers: {}, fate: 'none' },
    { what: 'a key', headers: { 'x-api-key': key }, fate: 'good' },
    { what: 'a key as Bearer', headers: { authorization: `bEARER ${key}` }, fate: 'good' },
    { what: 'a session as Bearer', headers: as, fate: 'good' },
    { what: 'a session as the cookie of TLS', headers: { cookie: `a=b; __Host-svc_session=${root.token}` }, fate: 'good' },
    { what: 'a session as the plain cookie', headers: { cookie: `svc_session=${root.token}` }, fate: 'good' },
    { what: 'a revoked key', headers: { 'x-api-key': revoked.api_key }, fate: 'api_key_revoked' },
    {
      what: 'a revoked key beside a good session',
      headers: { 'x-api-key': revoked.api_key, cookie: `svc_session=${root.token}` },
      fate: 'api_key_revoked',
    },
    { what: 'an expired key', headers: { 'x-api-key': short }, fate: 'expired' },
    { what: 'a key that was never issued', headers: { 'x-api-key': newApiKey() }, fate: 'api_key_unknown' },
    { what: 'a part of a key', headers: { 'x-api-key': key.slice(0, -1) }, fate: 'api_key_unknown' },
    { what: 'an empty key', headers: { 'x-api-key': '' }, fate: 'api_key_unknown' },
    { what: 'a session that was ended', headers: { authorization: `Bearer ${ended}` }, fate: 'expired' },
    { what: 'a session that never was', headers: { authorization: `Bearer ${newToken('svcs_')}` }, fate: 'expired' },
    { what: 'garbage as Bearer', headers: { authorization: 'Bearer x.y.z' }, fate: 'bad_encoding' },
    { what: 'a capability', headers: { authorization: `Bearer ${good}` }, fate: 'good' },
    { what: 'a capability as X-API-Key', headers: { 'x-api-key': good }, fate: 'good' },
    { what: 'a capability that was changed', headers: { authorization: `Bearer ${changed(good)}` }, fate: 'bad_signature' },
    {
      what: 'a capability of a tenant that is gone',
      headers: { authorization: `Bearer ${await capabilityOfNobody(post, send, as)}` },
      fate: 'unknown_key',
    },
    { what: 'an expired capability', headers: { authorization: `Bearer ${brief}` }, fate: 'expired' },
    { what: 'a revoked capability', headers: { authorization: `Bearer ${taken.token}` }, fate: 'expired' },
    { what: 'an old cookie', headers: { cookie: `svc_session=${ended}` }, fate: 'none' },
    { what: 'a key as a cookie', headers: { cookie: `svc_session=${key}` }, fate: 'none' },
    { what: 'another scheme', headers: { authorization: 'Basic cm9vdDpyb290' }, fate: 'none' },
  ];
}

/** Waits until a credential that expires has. */
async function refused(send: Listener['send'], credential: Headers): Promise<void> {
  while ((await send('GET', '/api/v1/auth/whoami', credential)).status !== 401)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

type Post = (path: string, headers: Headers, body: object) => Promise<Answer['body']>;

/** The same bytes but for one inside of what it allows. */
function changed(token: string): string {
  const bytes = Buffer.from(token.slice('svcc_'.length), 'base64url');
  bytes.write('chat:usf', bytes.indexOf('chat:use'));
  return `svcc_${bytes.toString('base64url')}`;
}

async function capabilityOfNobody(post: Post, send: Listener['send'], root: Headers): Promise<string> {
  const password = 'correct horse battery';
  await post('/api/v1/identity/tenants', root, { id: 'gone' });
  await post('/api/v1/identity/users', root, { username: 'ghost', tenant: 'gone', role: 'viewer', password });
  const { token } = await post('/api/v1/auth/login', {}, { username: 'ghost', password });
  const asked = { scopes: ['chat:use'], expires_in_seconds: 3600 };
  const made = await post('/api/v1/identity/capabilities', { authorization: `Bearer ${token}` }, asked);
  await send('DELETE', '/api/v1/identity/tenants/gone?force=true', root);
  return made.token;
}

interface Expected {
  status: 401 | 503 | undefined;
  reason: Fate | undefined;
}

function expected(guard: Guard, isPublic: boolean, state: State, fate: Fate): Expected {
  if (guard === 'never') return { status: undefined, reason: undefined };
  // A node without accounts judges no credential.
  const judged = state === 'off' ? 'none' : fate;
  if (judged === 'unchecked') return { status: 503, reason: undefined };
  if (judged !== 'none' && judged !== 'good') return { status: 401, reason: judged };
  const needs = guard === 'always' ? isPublic || state === 'enforce' : guard === 'edge' && isPublic;
  return { status: needs && judged === 'none' ? 401 : undefined, reason: undefined };
}

/** What is wrong with an answer; undefined: nothing. */
function fault(path: string, method: string, { status, headers, body }: Answer, wanted: Expected): string | undefined {
  if (wanted.status === undefined) return status === 401 || status === 403 || status === 500 ? `answers ${status}` : undefined;
  if (wanted.status === 503) {
    if (status !== 503) return `answers ${status}, not 503`;
    if (headers['retry-after'] === undefined) return 'has no Retry-After';
    // A member says of signing in and up that the accounts are elsewhere.
    const isSigning = path.startsWith('/api/v1/auth/') && JSON.stringify(body).includes('account_service_unreachable');
    const isNamed = isSigning || JSON.stringify(body).includes('credential_check_unavailable');
    return method === 'HEAD' || isNamed ? undefined : 'has another code';
  }
  if (status !== 401) return `answers ${status}, not 401`;
  if (headers['www-authenticate'] !== 'Bearer') return `WWW-Authenticate is ${headers['www-authenticate']}`;
  if (method === 'HEAD') return undefined;
  const isNested = path.startsWith('/v1/') && typeof body.error === 'object';
  const code = isNested ? (body.error.code ?? body.error.type) : body.error;
  const refusedCode = path.startsWith('/v1/') ? 'invalid_api_key' : 'invalid_credential';
  if (typeof body.detail !== 'string') return 'has no detail';
  if (wanted.reason === undefined) return code === refusedCode ? 'names a refused credential' : undefined;
  if (path === '/v1/messages' ? body.error?.type !== 'authentication_error' : code !== refusedCode) return `its code is ${code}`;
  if (!path.startsWith('/v1/') && body.reason !== wanted.reason) return `its reason is ${body.reason}`;
  return undefined;
}

/** Asks each listener each route of the table with each mark and credential. Resolves to what is wrong, and how many were asked. */
async function walk(
  listeners: readonly Listener[],
  table: Readonly<Record<string, Guard>>,
  credentials: readonly Credential[],
  wantedOf: (guard: Guard, isPublic: boolean, fate: Fate) => Expected,
): Promise<{ faults: string[]; nAsked: number }> {
  const faults: string[] = [];
  let nAsked = 0;
  for (const listener of listeners)
    for (const [mark, tightens] of marks) {
      const asked = Object.entries(table).flatMap(([route, guard]) =>
        credentials.map((credential) => ({ route, guard, credential })),
      );
      const ask = async ({ route, guard, credential }: (typeof asked)[number]): Promise<void> => {
        const [method = '', path = ''] = route.split(' ');
        const headers = { ...credential.headers, ...(mark !== undefined && { 'x-svc-public-edge': mark }) };
        const answer = await listener.send(method, path, headers);
        const wanted = wantedOf(guard, listener.name === 'public' || tightens, credential.fate);
        const wrong = fault(path, method, answer, wanted);
        nAsked += 1;
        if (wrong) faults.push(`${listener.name}, mark ${JSON.stringify(mark)}, ${credential.what}: ${route} ${wrong}`);
      };
      for (let i = 0; i < asked.length; i += 16) await Promise.all(asked.slice(i, i + 16).map(ask));
    }
  return { faults: faults.slice(0, 20), nAsked };
}

function tableOf(server: Pick<Server, 'openapi'>): Record<string, Guard> {
  const served = Object.keys((server.openapi as { paths: object }).paths);
  const later = laterPaths.map((path) => [`GET ${path}`, served.includes(path) ? 'edge' : 'always'] as const);
  return { ...paths, ...Object.fromEntries(later) };
}

const unchecked: readonly Credential[] = [
  { what: 'a key that was not looked up yet', headers: { 'x-api-key': newApiKey() }, fate: 'unchecked' },
  { what: 'a session', headers: { authorization: `Bearer ${newToken('svcs_')}` }, fate: 'unchecked' },
];

t.test('the whole table', async (t) => {
  const { server, internal, outside, closeDatabase } = await openProgram(t);
  const table = tableOf(server);
  const walkIn = (state: State, credentials: readonly Credential[]) =>
    walk([internal, outside], table, credentials, (guard, isPublic, fate) => expected(guard, isPublic, state, fate));
  const strangers: Credential[] = [
    { what: 'nothing', headers: {}, fate: 'none' },
    { what: 'a key of elsewhere', headers: { 'x-api-key': 'sk-1' }, fate: 'none' },
    { what: 'a token of elsewhere', headers: { authorization: 'Bearer x' }, fate: 'none' },
  ];
  const nOf = (nCredentials: number) => 2 * marks.length * Object.keys(table).length * nCredentials;
  t.strictSame(await walkIn('off', strangers), { faults: [], nAsked: nOf(3) }, 'without accounts');
  const credentials = await makeCredentials(internal);
  t.strictSame(await walkIn('enforce', credentials), { faults: [], nAsked: nOf(credentials.length) }, 'with accounts');
  await closeDatabase();
  t.strictSame(await walkIn('enforce', unchecked), { faults: [], nAsked: nOf(2) }, 'while the accounts cannot be read');
});

t.test('the whole table at a member, which sends on what is not its own', async (t) => {
  const links = { SVC_CLUSTER_LISTEN: '127.0.0.1:0', SVC_CLUSTER_HEARTBEAT_SECONDS: '1', SVC_CLUSTER_ENTRY_SECONDS: '5' };
  const controller = await openProgram(t, links);
  const alone = await openProgram(t, links);
  const credentials = await makeCredentials(controller.internal);
  const root = credentials.find(({ what }) => what === 'a session as Bearer')?.headers ?? {};
  const post = (at: Listener, path: string, body: object, headers: Headers = {}) =>
    at.send('POST', path, { ...headers, 'content-type': 'application/json' }, JSON.stringify(body));
  const made = await post(controller.internal, '/api/v1/cluster/join-tokens', {}, root);
  t.match(await post(alone.internal, '/api/v1/cluster/join', { token: made.body.token }), { status: 200 });
  await alone.server.restarting;
  await alone.stop();
  const member = await openProgram(t, links, alone.folder);
  // What a controller answers is asked of it as through its public listener.
  const sentOn = ['GET /api/v1/license/health', 'GET /api/v1/cloud/backends/public'].map((route) => [route, 'always'] as const);
  const table = { ...tableOf(member.server), ...Object.fromEntries(sentOn) };
  const walkMember = (all: readonly Credential[]) =>
    walk([member.internal, member.outside], table, all, (guard, isPublic, fate) => expected(guard, isPublic, 'enforce', fate));
  while ((await member.internal.send('GET', '/api/v1/auth/whoami', root)).status !== 200) await new Promise(setImmediate);
  t.strictSame((await walkMember(credentials)).faults, [], 'with a controller');
  await controller.stop();
  t.strictSame((await walkMember(unchecked)).faults, [], 'without one');
});

t.test(
  'the cookies of the session and of the device are those of TLS where the browser speaks TLS, and only there',
  async (t) => {
    const { internal, outside } = await openProgram(t);
    const user = JSON.stringify({ username: 'root', password: 'correct horse battery' });
    const json = { 'content-type': 'application/json' };
    await internal.send('POST', '/api/v1/auth/register', json, user);
    const cookie = async (listener: Listener, headers: Headers): Promise<string> =>
      (await listener.send('POST', '/api/v1/auth/login', { ...json, ...headers }, user)).headers['set-cookie']?.join('\n') ?? '';
    const secure =
      /^__Host-svc_session=svcs_[\w-]{43}; Secure; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+\n__Host-svc_device=[\w.-]+; Secure; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/;
    const plain =
      /^svc_session=svcs_[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+\nsvc_device=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/;
    t.match(await cookie(outside, {}), secure, 'TLS');
    t.match(await cookie(internal, { 'x-svc-public-edge': '1', 'x-forwarded-proto': 'https' }), secure, 'TLS that a proxy ended');
    t.match(await cookie(internal, {}), plain, 'plain HTTP');
    t.match(await cookie(internal, { 'x-svc-public-edge': '1' }), plain, 'a proxy that speaks plain HTTP');
    t.match(await cookie(internal, { 'x-forwarded-proto': 'http' }), plain);
  },
);

t.test('proxies that are no addresses keep the node from starting, with a remedy', async (t) => {
  const environment = { SVC_EDGE_TRUSTED_PROXIES: '10.0.0.0/8, proxy.lan', SVC_DATA_DIR: t.testdir() };
  const config = loadNodeConfig({ root: t.testdirName, environment });
  await t.rejects(createServer(config), {
    code: 'invalid_setting',
    message: /"proxy\.lan" is no address/,
    remedy: /10\.0\.0\.0\/8/,
  });
});
