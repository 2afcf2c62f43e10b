/** A node joins with a token, once, and does nothing for a cluster that it did not join. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type ConnectionOptions, connect } from 'node:tls';
import t, { type Test } from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { NO_ACCOUNTS } from '../../../platform/http/authenticator.ts';
import { ROLES, type Role } from '../../../platform/module/module-names.ts';
import { openModules, standIn, statedCallers } from '../../../platform/module/test-support/open-modules.ts';
import { scriptedNode } from '../../../platform/module/test-support/scripted-context.ts';
import { inference } from '../../inference/index.ts';
import { defineCluster } from '../index.ts';
import { openNodeCertificate } from '../link/node-certificate.ts';
import { type NodeEntry, NodeStore } from '../node-store.ts';
import type { ClusterTables } from '../tables.ts';
import { markCopy, requireOriginal, requireSilence } from './copy-guard.ts';
import { readJoinToken, writeJoinToken } from './join-token.ts';
import { enforcesForGood, readMembership } from './membership.ts';

const ROOT = { 'x-as': JSON.stringify({ kind: 'session', subject: 'root', roles: ['superadmin'], scopes: ['*'] }) };
const ADMIN = { 'x-as': JSON.stringify({ kind: 'session', subject: 'ann', roles: ['admin'], scopes: ['*'] }) };

const DAY_MS = 24 * 3_600_000;

async function openNode(
  t: Test,
  id: string,
  dataDir = join(newFolder(t), 'data'),
  listen = '127.0.0.1:0',
  now: () => number = Date.now,
) {
  const cluster = defineCluster({ now });
  const roles = new Set<Role>(['controller']);
  let holdsDocuments = false;
  const restarts: string[] = [];
  const node = {
    ...scriptedNode,
    id,
    dataDir,
    roles: () => ROLES.map((role) => ({ role, enabled: roles.has(role), modules: [] })),
    holdsDocuments: async () => holdsDocuments,
    setRole: async (role: Role, on: boolean) => void (on ? roles.add(role) : roles.delete(role)),
    restart: (reason: string) => void restarts.push(reason),
  };
  const service = { models: async () => [{ id: `model-of-${id}` }], addBackend: () => () => undefined };
  const bed = await openModules(t, {
    modules: [standIn(inference, { service: service as never, split: { models: [], programs: '', port: 0 } }), cluster],
    dataDir,
    services: { node },
    settings: { 'cluster.listen': listen, 'cluster.heartbeat_seconds': 1 },
    http: () => ({ authenticator: statedCallers }),
  });
  bed.module(cluster).api.connect({
    authenticator: NO_ACCOUNTS,
    address: () => ({ host: '127.0.0.1', port: 9 }),
    recheck: () => undefined,
  });
  const ask = (method: string, path: string, body?: unknown, headers = ROOT) =>
    bed.send(method, `/api/v1/cluster/${path}`, { headers, ...(body !== undefined && { body }) });
  return {
    bed,
    ask,
    roles,
    restarts,
    setDocuments: (has: boolean) => {
      holdsDocuments = has;
    },
    dataDir,
    api: bed.module(cluster).api,
    store: new NodeStore(bed.storage.access<ClusterTables>()),
  };
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(20);
}

/** Resolves to all that a controller says to a node with that certificate; empty: nothing. */
function say(address: string, options: ConnectionOptions, path: string, body: string): Promise<string> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ...options }, () =>
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\nx-svc-wire: 1\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      ),
    );
    socket.setTimeout(8_000, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

t.test('a node joins by a token', { timeout: 60_000 }, async (t) => {
  const head = await openNode(t, 'a1');
  const first = await openNode(t, 'b2');
  t.equal((await head.ask('POST', 'join-tokens', {}, ADMIN)).status, 403);
  const made = await head.ask('POST', 'join-tokens', { expires_in_seconds: 60 });
  t.match(made, { status: 201, body: { token: /^svcj_/ } });
  const { token } = made.body;
  t.notOk(JSON.stringify(await dumped(head.store)).includes(readJoinToken(token).secret), 'the secret is kept nowhere');

  first.setDocuments(true);
  t.match(await first.ask('POST', 'join', { token }), { status: 409, body: { error: 'data_role_holds_data' } });
  first.setDocuments(false);
  t.match(await first.ask('POST', 'leave', {}), { status: 409, body: { error: 'not_a_member' } });
  t.equal((await first.ask('POST', 'join', { token, address: 'no address' })).status, 400);
  const joined = await first.ask('POST', 'join', { token });
  t.match(joined, { status: 200, body: { controllers: [/^127\.0\.0\.1:/] } });
  t.strictSame([first.restarts.length, [...first.roles]], [1, ['inference']]);
  t.equal(statSync(join(first.dataDir, 'cluster', 'member.json')).mode & 0o777, 0o600);
  await first.bed.stop();

  await t.test('and works for the cluster from then on', async (t) => {
    const member = await openNode(t, 'b2', first.dataDir);
    t.equal(member.api.isMember, true);
    t.equal(member.api.epoch, undefined, 'it leads nothing');
    await until(async () => (await head.ask('GET', 'topology')).body.nodes.length === 2);
    await until(async () => head.api.enforces);
    t.ok(await enforcesForGood(head.dataDir), 'its controller asks for credentials, too, and for good');
    const { body } = await head.ask('GET', 'topology');
    t.match(body, { leader: 'a1', nodes: [{ id: 'a1' }, { id: 'b2', models: ['model-of-b2'], state: 'ready' }] });
    t.match(body.nodes[1].certificate_expires_at, /^\d{4}-/);
    t.match(await head.ask('POST', 'nodes/b2/drain'), { status: 200, body: { state: 'draining' } });
    t.match(
      (await member.ask('GET', 'topology')).body,
      { cluster_id: body.cluster_id, leader: 'a1' },
      'it reads the list of the controller',
    );
    t.match(await member.ask('POST', 'join', { token }), { status: 409, body: { error: 'already_member' } });
    t.match(await member.ask('POST', 'join-tokens', {}), { status: 421, body: { error: 'ask_a_controller' } });
    t.match(await member.ask('DELETE', 'nodes/a1'), { status: 409 });

    await t.test('writes of itself alone', async (t) => {
      const own = await openNodeCertificate(join(first.dataDir, 'cluster'), 'b2');
      const address = readJoinToken(token).address;
      const call = (method: string, ...given: unknown[]) =>
        say(address, own, '/registry', JSON.stringify({ method, arguments: given }));
      const [, row] = await head.store.nodes();
      const { seenMsAgo: _, ...beat } = row as NonNullable<typeof row>;
      t.match(await call('beat', beat), /^HTTP\/1.1 200 /);
      for (const [method, given] of [
        ['beat', { ...beat, id: 'a1' }],
        ['beat', { ...beat, draining: -1 }],
        ['beat', { ...beat, models: '{' }],
        ['beat', { ...beat, name: 'x'.repeat(300_000) }],
        ['beat', null],
        ['remove', 'a1'],
        ['lead', 'b2'],
        ['useJoinToken', 'x'],
        ['constructor', 'x'],
        ['register', 'no certificate'],
      ] as const)
        t.match(await call(method, given), /^HTTP\/1.1 400 /, `${method} ${JSON.stringify(given)?.slice(0, 40)}`);
      const order = await head.store.order('a1', { kind: 'drain' });
      for (const path of ['/complete', '/whole'])
        t.match(await say(address, own, path, '{}'), /^HTTP\/1.1 403 /, 'it gives no work');
      t.match(await call('take', order), /"value":false/, 'an order of another node stays');
      await head.store.take(order);
    });

    await t.test('alone: a copy of its folder does not start while it runs', async (t) => {
      const copy = join(newFolder(t), 'data');
      cpSync(first.dataDir, copy, { recursive: true });
      const own = await openNodeCertificate(join(copy, 'cluster'), 'b2');
      const entry = (await head.store.nodes()).find(({ id }) => id === 'b2') as NodeEntry;
      await t.rejects(requireSilence(entry, 'elsewhere:8881', own), { code: 'node_cloned' });
      await t.resolves(requireSilence(entry, entry.address, own), 'it is there itself');
      await t.resolves(requireSilence({ ...entry, address: '127.0.0.1:9' }, 'elsewhere:8881', own), 'nobody answers there');
      await requireOriginal(copy);
      await markCopy(copy);
      await t.rejects(requireOriginal(copy), { code: 'node_cloned' }, 'nor later, once it was found out beside the other');
    });

    await t.test('until it leaves', async (t) => {
      const made = await head.ask('POST', 'join-tokens', {});
      const other = await openNode(t, 'e9');
      t.equal((await other.ask('POST', 'join', { token: made.body.token, address: 'gpu2.example:8881' })).status, 200);
      await other.bed.stop();
      const leaver = await openNode(t, 'e9', other.dataDir);
      const told = async () => (await head.store.nodes()).find(({ id }) => id === 'e9');
      await until(async () => (await told()) !== undefined);
      t.equal((await told())?.address, 'gpu2.example:8881');
      t.match(await readMembership(other.dataDir), { address: 'gpu2.example:8881' });
      t.equal((await leaver.ask('POST', 'leave', {})).status, 204);
      t.equal(leaver.restarts.length, 1);
      t.notOk((await head.store.nodes()).some(({ id }) => id === 'e9'));
      t.notOk((await head.store.certificates()).some(({ node }) => node === 'e9'));
      await leaver.bed.stop();
      const single = await openNode(t, 'e9', other.dataDir);
      t.strictSame([single.api.isMember, single.api.enforces, single.api.epoch !== undefined], [false, true, true]);
      await single.bed.stop();
    });

    await t.test('until it is removed, at once and while it runs', async (t) => {
      t.equal((await head.ask('DELETE', 'nodes/b2')).status, 204);
      await until(async () => member.bed.log.some((line) => line.includes('were not brought up to date')));
      t.strictSame(
        (await head.ask('GET', 'topology')).body.nodes.map(({ id }: { id: string }) => id),
        ['a1'],
      );
      t.match(await member.ask('POST', 'leave', {}), { status: 503, body: { error: 'node_unreachable', detail: /--force/ } });
      t.ok(await readMembership(first.dataDir));
      t.equal((await member.ask('POST', 'leave', { force: true })).status, 204, 'it is one of its own again');
      t.equal(await readMembership(first.dataDir), undefined);
    });
  });
});

t.test('nobody joins without a token that is good', { timeout: 60_000 }, async (t) => {
  const head = await openNode(t, 'a1');
  const { token } = (await head.ask('POST', 'join-tokens', {})).body;
  const { address, fingerprint, secret } = readJoinToken(token);
  const node = await openNode(t, 'c3');
  const refused = async (given: string, code: string) => {
    t.match(await node.ask('POST', 'join', { token: given }), { body: { error: code } }, given.slice(0, 60));
    t.notOk(existsSync(join(node.dataDir, 'cluster', 'member.json')));
  };
  await refused(writeJoinToken({ address, fingerprint, secret: 'x'.repeat(43) }), 'join_token_invalid');
  await refused(
    writeJoinToken({ address, fingerprint: fingerprint.replace(/^../, fingerprint.startsWith('00') ? '11' : '00'), secret }),
    'join_failed',
  );
  await refused(writeJoinToken({ address: '127.0.0.1:9', fingerprint, secret }), 'join_failed');
  const away = { address: '127.0.0.1:9', fingerprint };
  const far = { address: `${'x'.repeat(255)}:65535`, fingerprint };
  await refused(writeJoinToken({ ...far, secret, others: [far, away, far, far] }), 'join_failed');
  await refused(writeJoinToken({ ...away, secret, others: [{ address: 'no address', fingerprint }] }), 'join_token_invalid');
  await refused(`${token.slice(0, -8)}AAAAAAAA`, 'join_token_invalid');
  t.equal((await node.ask('POST', 'join', { token: 'svcj_' })).status, 400);

  const folder = newFolder(t);
  const stranger = await openNodeCertificate(folder, 'd4');
  const body = JSON.stringify({ secret, id: 'd4', name: 'x', certificate: stranger.cert });
  t.equal(await say(address, stranger, '/registry', body), '', 'strangers may do nothing else');
  t.equal(await say(address, stranger, '/complete', body), '');
  t.equal(await say(address, {}, '/join', body), '', 'nor without a certificate');
  const other = await openNodeCertificate(join(folder, 'other'), 'd4');
  t.match(await say(address, other, '/join', body), /^HTTP\/1.1 403 /, 'with the certificate of another');
  for (const bad of [
    '',
    '{',
    'null',
    JSON.stringify({ secret, id: '../x', name: 'x', certificate: stranger.cert }),
    'x'.repeat(20_000),
  ])
    t.notMatch(await say(address, stranger, '/join', bad), /^HTTP\/1.1 200 /);
  t.match(
    await say(address, stranger, '/join', JSON.stringify({ secret, id: 'a1', name: 'x', certificate: stranger.cert })),
    /^HTTP\/1.1 409 /,
    'as another node',
  );
  t.match(await say(address, stranger, '/join', body), /^HTTP\/1.1 403 /, 'a token works once');

  const { token: next } = (await head.ask('POST', 'join-tokens', {})).body;
  const elsewhere = await openNode(t, 'ab');
  const found = await elsewhere.ask('POST', 'join', {
    token: writeJoinToken({ ...away, secret: readJoinToken(next).secret, others: [away, { address, fingerprint }] }),
  });
  t.match(found, { status: 200, body: { controllers: [address] } }, 'a controller that is off is passed over');

  const { token: brief } = (await head.ask('POST', 'join-tokens', {})).body;
  await head.store.addJoinToken('expired', ['inference'], -1);
  t.equal(await head.store.useJoinToken('expired'), undefined);
  const both = await Promise.all([openNode(t, 'e5'), openNode(t, 'f6')]);
  const answers = await Promise.all(both.map(({ ask }) => ask('POST', 'join', { token: brief })));
  t.strictSame(answers.map(({ status }) => status).toSorted(), [200, 400], 'of two that come at once, one joins');
});

t.test('what a node needs before it joins, and what a damaged file means', async (t) => {
  const deaf = await openNode(t, 'g7', undefined, '');
  const token = writeJoinToken({ address: '127.0.0.1:9', fingerprint: Array(32).fill('AA').join(':'), secret: 'x'.repeat(43) });
  t.match(await deaf.ask('POST', 'join-tokens', {}), { status: 409, body: { error: 'not_listening' } });
  t.match(await deaf.ask('POST', 'join', { token }), { status: 409, body: { error: 'not_listening' } });
  const dataDir = join(newFolder(t), 'data');
  const before = await openNode(t, 'h8', dataDir);
  await before.bed.stop();
  writeFileSync(join(dataDir, 'cluster', 'member.json'), '{');
  const reads: ((dataDir: string) => Promise<unknown>)[] = [readMembership, enforcesForGood];
  for (const read of reads) await t.rejects(read(dataDir), /is damaged: join again/, 'it does not go on by itself');
  rmSync(join(dataDir, 'cluster', 'member.json'));
  mkdirSync(join(dataDir, 'cluster', 'member.json'));
  for (const read of reads) await t.rejects(read(dataDir), { code: 'EISDIR' }, 'nor where it cannot be read');
});

t.test('a certificate is renewed at 20 of its 30 days, also of a member that was off then', { timeout: 60_000 }, async (t) => {
  // The clock of TLS is nobody's to move, so the test ends with the present.
  const began = Date.now() - 28.5 * DAY_MS;
  let now = began;
  const open = (id: string, dataDir?: string) => openNode(t, id, dataDir, undefined, () => now);
  const head = await open('a1');
  const first = await open('b2');
  const { token } = (await head.ask('POST', 'join-tokens', {})).body;
  t.equal((await first.ask('POST', 'join', { token })).status, 200);
  await first.bed.stop();
  const shown = () => [head, first].map(({ dataDir }) => readFileSync(join(dataDir, 'cluster', 'node.pem'), 'utf8'));
  const nKnown = async () => {
    const certificates = await head.store.certificates();
    return ['a1', 'b2'].map((id) => certificates.filter(({ node }) => node === id).length).join();
  };
  const old = shown();
  t.equal(await nKnown(), '1,1');

  now = began + 19 * DAY_MS + 2_000;
  const member = await open('b2', first.dataDir);
  await until(async () => (await nKnown()) === '2,2');
  t.strictSame(shown(), old, 'whoever is away now knows only these');
  await until(async () => (await readMembership(first.dataDir))?.controllers[0]?.certificates.length === 2);
  await until(async () => (await head.ask('GET', 'topology')).body.nodes.length === 2);
  now = began + 28 * DAY_MS + 2_000;
  await until(async () => shown().every((pem, i) => pem !== old[i]));
  t.equal((await head.ask('POST', 'nodes/b2/drain')).status, 200, 'the member hears its controller');
  await until(async () => (await head.ask('GET', 'topology')).body.nodes[1]?.state === 'draining');
  t.match((await member.ask('GET', 'topology')).body, { leader: 'a1' });
  t.equal(await nKnown(), '2,2');
});

async function dumped(store: NodeStore): Promise<unknown> {
  return [await store.nodes(), await store.certificates(), await store.state()];
}
