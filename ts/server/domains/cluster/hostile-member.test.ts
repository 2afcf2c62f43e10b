/** A node that joined with a token and lies: it gets no data, ends no other node, and takes nobody's place. */

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { NO_ACCOUNTS } from '../../platform/http/authenticator.ts';
import { ROLES, type Role } from '../../platform/module/module-names.ts';
import { openModules, standIn, statedCallers } from '../../platform/module/test-support/open-modules.ts';
import { scriptedNode } from '../../platform/module/test-support/scripted-context.ts';
import { type CompletionSink, type InferenceBackend, inference, type ModelCard } from '../inference/index.ts';
import { NO_CAPABILITIES } from '../inference/test-support/capabilities.ts';
import type { ClusterApi } from './cluster-module.ts';
import { cluster } from './index.ts';
import { readJoinToken } from './join/join-token.ts';
import { askToJoin, type Controller } from './join/membership.ts';
import { encode } from './link/frames.ts';
import { openNodeCertificate } from './link/node-certificate.ts';
import { Peer } from './link/peers.ts';

const ROOT = { 'x-as': JSON.stringify({ kind: 'session', subject: 'root', roles: ['superadmin'], scopes: ['*'] }) };
const signal = new AbortController().signal;

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(20);
}

const replication: Parameters<ClusterApi['connectReplication']>[0] = {
  push: () => Promise.reject(new Error('nothing is sent')),
  open: () => {
    throw new Error('it is no standby');
  },
  lay: async () => 0,
  decide: async () => undefined,
  names: ['svc.db'],
};

/** A controller on SQLite: what it would send to standbys, and why it would start again. */
async function openController(t: Test) {
  const restarts: string[] = [];
  const pushed: string[] = [];
  const backends: Pick<InferenceBackend, 'models' | 'countTokens' | 'complete'>[] = [];
  const dataDir = join(newFolder(t), 'data');
  const node = {
    ...scriptedNode,
    id: 'a1',
    dataDir,
    roles: () => ROLES.map((role) => ({ role, enabled: role === 'controller', modules: [] })),
    restart: (reason: string) => void restarts.push(reason),
  };
  const addBackend = (backend: InferenceBackend) => {
    backends.push(backend);
    return () => undefined;
  };
  const wired: typeof cluster = {
    ...cluster,
    create: async (context) => {
      const module = await cluster.create(context);
      module.api.connect({
        authenticator: NO_ACCOUNTS,
        address: () => ({ host: '127.0.0.1', port: 9 }),
        recheck: () => undefined,
      });
      const push = async ({ shown }: { shown: string }) => {
        pushed.push(shown);
        throw new Error('it is not taken');
      };
      module.api.connectReplication({ ...replication, push });
      return module;
    },
  };
  const service = { models: async () => [], addBackend };
  const bed = await openModules(t, {
    modules: [standIn(inference, { service: service as never, split: { models: [], programs: '', port: 0 } }), wired],
    dataDir,
    services: { node },
    settings: { 'cluster.listen': '127.0.0.1:0', 'cluster.heartbeat_seconds': 1, 'cluster.sync_seconds': 1 },
    http: () => ({ authenticator: statedCallers }),
  });
  const ask = (method: string, path: string, body?: unknown) =>
    bed.send(method, `/api/v1/cluster/${path}`, { headers: ROOT, ...(body !== undefined && { body }) });
  return { bed, ask, restarts, pushed, dataDir, backends };
}

/** A node that joined, and answers the controller as the test says. */
async function joinLiar(t: Test, head: Awaited<ReturnType<typeof openController>>, id: string, roles: readonly Role[]) {
  const { token } = (await head.ask('POST', 'join-tokens', { roles })).body;
  const own = await openNodeCertificate(join(newFolder(t), 'cluster'), id);
  const { controllers } = await askToJoin(token, { ...own, id, name: id });
  const [controller] = controllers as [Controller];
  const peer = new Peer({ ...controller, name: '', isReady: true, isMember: false, modules: [] }, own, 5_000);
  t.teardown(() => peer.close());
  const liar = {
    says: { id, cards: [] } as object,
    answer: (_: IncomingMessage, response: ServerResponse) => void response.end(),
  };
  const server = createServer({ cert: own.cert, key: own.key, minVersion: 'TLSv1.3' }, (request, response) => {
    if (request.url === '/node') response.end(encode(liar.says));
    else liar.answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const call = async (method: string, given: unknown): Promise<number> => {
    const response = await peer.ask('/registry', signal, encode({ method, arguments: [given] }));
    response.discard();
    return response.status;
  };
  const beat = {
    id,
    name: id,
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    version: '1.2.3',
    boot: '',
    roles: '["inference"]',
    modules: '["inference"]',
    models: '[]',
    load: '{"cpu":0,"memory_free_bytes":1}',
    draining: 0,
    ended: 0,
    heartbeat_ms: 1_000,
    wire: 1,
  };
  // The controller reads twice a second who is one of its nodes.
  await until(() =>
    peer.refresh(signal).then(
      () => true,
      () => false,
    ),
  );
  const tell = (changes: object = {}) => call('beat', { ...beat, ...changes });
  return Object.assign(liar, { own, peer, call, tell });
}

/** The controller has asked the member since. */
async function untilAsked(liar: { says: object }): Promise<void> {
  let nAsked = 0;
  const { says } = liar;
  Object.defineProperty(liar, 'says', {
    configurable: true,
    get: () => {
      nAsked += 1;
      return says;
    },
  });
  await until(() => nAsked >= 2);
  Object.defineProperty(liar, 'says', { configurable: true, writable: true, value: says });
}

t.test('a member that was given the role inference', { timeout: 120_000 }, async (t) => {
  const head = await openController(t);
  const liar = await joinLiar(t, head, 'b2', ['inference']);

  await t.test('gets no copy of the data, whatever it says that it does', async (t) => {
    t.equal(await liar.tell({ roles: '["data"]', modules: '["data","inference"]' }), 200);
    await untilAsked(liar);
    t.match(await head.ask('GET', 'storage'), { status: 200, body: { replicas: [] } });
    t.equal((await head.ask('POST', 'storage/b2/sync')).status, 409);
    await untilAsked(liar);
    t.strictSame(head.pushed, []);
  });

  await t.test('does not take the place of its primary by saying so', async (t) => {
    liar.says = { id: 'b2', cards: [], primary: { commit: 9, epoch: 9, promotions: 9 } };
    await untilAsked(liar);
    t.strictSame(head.restarts, []);
    t.notOk(existsSync(join(head.dataDir, '.restore')));
    t.equal((await head.ask('POST', 'join-tokens', {})).status, 201, 'it writes as before');
  });

  await t.test('stops nobody by what it tells of itself', async (t) => {
    for (const changes of [
      { modules: 'null' },
      { modules: '5' },
      { roles: '{}' },
      { models: '[null]' },
      { load: 'null' },
      { load: '{"cpu":"x","memory_free_bytes":1}' },
      { heartbeat_ms: 9e15 },
      { address: 'a b' },
      { draining: 7 },
    ])
      t.equal(await liar.tell(changes), 400, JSON.stringify(changes));
    t.equal(await liar.tell({ roles: '["inference","chief"]' }), 200);
    const { nodes } = (await head.ask('GET', 'topology')).body;
    const told = nodes.find(({ id: of }: { id: string }) => of === 'b2');
    t.match(told, { roles: ['inference'], modules: ['inference'] });
  });

  await t.test("has as many certificates as it needs, and no other node's", async (t) => {
    let last = 0;
    for (let i = 0; i < 5 && (i === 0 || last === 200); i++) {
      const { cert } = await openNodeCertificate(join(newFolder(t), 'more'), 'b2');
      last = await liar.call('register', cert);
    }
    t.equal(last, 400);
    const { token } = (await head.ask('POST', 'join-tokens', {})).body;
    const other = await openNodeCertificate(join(newFolder(t), 'other'), 'b2');
    await t.rejects(askToJoin(token, { ...other, id: 'b2', name: 'x' }), { code: 'node_id_taken' });
  });

  await t.test('becomes no controller', async (t) => {
    const refused = { status: 409, body: { error: 'controller_needs_database' } };
    t.match(await head.ask('POST', 'join-tokens', { roles: ['inference', 'controller'] }), refused);
    t.match(await head.ask('PUT', 'nodes/b2/roles/controller', { enabled: true }), refused);
  });

  await t.test('asks for little', async (t) => {
    const large = liar.peer.ask('/registry', signal, Buffer.alloc(3 * 2 ** 20, ' '));
    await t.rejects(large.then((response) => response.status === 400 && Promise.reject(new Error('refused'))));
    t.equal(await liar.tell(), 200, 'and goes on');
  });

  await t.test('answers with models that are none, and others are listed', async (t) => {
    const good = {
      id: 'good',
      kind: 'chat',
      family: 'llama',
      createdAt: 1,
      ownedBy: 'svc',
      state: 'loaded',
      costOf: 5,
      nodes: 5,
      capabilities: { ...NO_CAPABILITIES, chat: true, completion: true },
    };
    const bad = [
      null,
      5,
      {},
      { id: 'x' },
      { ...good, id: '' },
      { ...good, id: 'no-caps', capabilities: null },
      { ...good, id: 'c', costs: 7 },
    ];
    liar.says = { id: 'b2', cards: [...bad, good], load: { nRunning: 'x' }, prefixes: 'y', replica: { syncedAt: 1e300 } };
    const [backend] = head.backends as [InferenceBackend];
    await until(async () => (await backend.models()).length > 0);
    t.match(await backend.models(), [{ id: 'good', nodes: ['b2'], costOf: undefined }]);
    t.equal((await head.ask('GET', 'storage')).status, 200);
    const [card] = await backend.models();

    await t.test('answers in one piece as it was asked, or is lost', async (t) => {
      const options = { tenant: 'default', signal };
      for (const value of [undefined, null, 'x', -1, 1.5, {}, 'y'.repeat(200_000)]) {
        liar.answer = (_, response) => void response.end(encode({ value }));
        await t.rejects(backend.countTokens(card as ModelCard, { messagesJson: '[]' } as never, options), { code: 'node_lost' });
        await untilAsked(liar);
      }
      liar.answer = (_, response) => void response.end(encode({ value: 7 }));
      t.equal(await backend.countTokens(card as ModelCard, { messagesJson: '[]' } as never, options), 7);
    });

    await t.test('ends an answer by what is no record', async (t) => {
      for (const lines of [
        'j["onStart",1,0]\nc0 a\nj["onDone",null]\n',
        'j["onStart",1,0]\nc0 a\nj["onDone",{"nPromptTokens":-5}]\n',
        'c0 a"}]}\n',
        'c0 a\rdata: x\n',
        'c0 a\\\n',
        'c0 \\u12\n',
        'j["onFinish",0,"free","x"]\n',
        'j["onError",null]\n',
      ]) {
        liar.answer = (_, response) => void response.end(lines);
        const failure = await completionFailure(backend, card as ModelCard);
        t.match(failure, { code: 'node_lost' }, lines);
        await untilAsked(liar);
      }
    });
  });
});

/** The error by which an answer ends. */
async function completionFailure(backend: InferenceBackend, card: ModelCard): Promise<Error> {
  const ended = Promise.withResolvers<Error>();
  const sink = new Proxy({} as CompletionSink, {
    get: (_, name) => {
      if (name === 'onError') return (error: Error) => ended.resolve(error);
      return name === 'onDone' ? () => ended.resolve(new Error('it is done')) : () => undefined;
    },
  });
  const prompt = { kind: 'chat', messagesJson: '[]' } as const;
  const asked = { model: card.id, needsTools: false, needsVision: false, needsAudio: false, job: { prompt } };
  await backend.complete(card, asked, sink, { tenant: 'default', signal });
  return await ended.promise;
}

t.test('a member that was given the role data', { timeout: 60_000 }, async (t) => {
  const head = await openController(t);
  const standby = await joinLiar(t, head, 'c3', ['data']);
  t.equal(await standby.tell({ roles: '["data"]', modules: '["data"]' }), 200);
  await until(() => head.pushed.includes('c3'));
  t.match((await head.ask('GET', 'storage')).body, { replicas: [{ node: 'c3' }] });
  standby.says = { id: 'c3', cards: [], replica: { id: 'x', commit: 1, syncedAt: 1e300, primaryCommit: 1, roles: [] } };
  await untilAsked(standby);
  t.equal((await head.ask('GET', 'storage')).status, 200, 'and tells of a time that there is not');
  standby.says = { id: 'c3', cards: [], primary: { commit: 9, epoch: '../../x', promotions: 9 } };
  await untilAsked(standby);
  t.strictSame(head.restarts, [], 'an epoch is a number');
  standby.says = { id: 'c3', cards: [], primary: { commit: 9, epoch: 9, promotions: 9 } };
  await until(() => head.restarts.length === 1);
});

t.test('one that joined and was never heard is removed', { timeout: 60_000 }, async (t) => {
  const head = await openController(t);
  const { peer } = await joinLiar(t, head, 'e5', ['inference']);
  t.equal((await head.ask('DELETE', 'nodes/e5')).status, 204);
  await until(() =>
    peer.refresh(signal).then(
      () => false,
      () => true,
    ),
  );
  t.match(await head.ask('DELETE', 'nodes/e5'), { status: 404, body: { error: 'node_not_found' } });
});

t.test('connections that say nothing keep no node out', { timeout: 60_000 }, async (t) => {
  const head = await openController(t);
  const { address } = readJoinToken((await head.ask('POST', 'join-tokens', {})).body.token);
  const [host, port] = address.split(':');
  const silent = Array.from({ length: 300 }, () => connectPlain(Number(port), host).on('error', () => undefined));
  t.teardown(() => {
    for (const socket of silent) socket.destroy();
  });
  const nClosed = () => silent.filter(({ closed }) => closed).length;
  await until(() => nClosed() >= 300 - 64);
  t.ok(silent.length - nClosed() <= 64);
  await until(() => nClosed() === 300);
  await joinLiar(t, head, 'd4', ['inference']);
});
