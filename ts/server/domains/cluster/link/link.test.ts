/** Models of one node answer for callers of another, over links that nobody else can use. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type ConnectionOptions, connect } from 'node:tls';
import t, { type Test } from 'tap';
import { iterations } from '../../../../../test/test-support/iterations.ts';
import { NativeError } from '../../../native/native-error.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { ANONYMOUS } from '../../../platform/http/principal.ts';
import { createSelfSigned } from '../../../platform/http/self-signed.ts';
import { openModules, standIn } from '../../../platform/module/test-support/open-modules.ts';
import { scriptedNode } from '../../../platform/module/test-support/scripted-context.ts';
import { PostgresCluster } from '../../../platform/storage/test-support/postgres-cluster.ts';
import { type CompletionSink, defineInference, inferenceErrors, type ModelCard } from '../../inference/index.ts';
import { ScriptedBinding, scriptedUsage } from '../../inference/test-support/scripted-engine.ts';
import { scriptedInspector, sourceOf, storedModel } from '../../inference/test-support/stored-models.ts';
import { unenforced } from '../../inference/test-support/unenforced.ts';
import { unmetered } from '../../inference/test-support/unmetered.ts';
import { metering } from '../../metering/index.ts';
import { security } from '../../security/index.ts';
import { cluster } from '../index.ts';
import { NodeStore, REMOVALS } from '../node-store.ts';
import { WIRE_BEFORE, WIRE_VERSION } from '../protocol/wire-version.ts';
import type { ClusterTables } from '../tables.ts';
import { certificateRow, openNextCertificate, openNodeCertificate, takeNextCertificate } from './node-certificate.ts';
import { Peer } from './peers.ts';

/** The long form shows how soon a removal is seen. */
const nRemovals = iterations(3, 100, 'SVC_TEST_REMOVALS');
const NEEDS = { needsTools: false, needsVision: false, needsAudio: false };
const signal = new AbortController().signal;

/** A node of the database with these models, whose engine does what the test says. */
async function openNode(t: Test, id: string, databaseUrl: string, models: readonly string[]) {
  const folder = newFolder(t);
  for (const model of models) writeFileSync(join(folder, `${model}.gguf`), 'x');
  const binding = new ScriptedBinding();
  const source = sourceOf(models.map((model) => storedModel(folder, model, model.startsWith('embed') ? 'embedding' : 'chat')));
  const inference = defineInference({
    binding,
    source,
    inspector: scriptedInspector(),
    metering: unmetered,
    security: unenforced,
  });
  const dataDir = join(folder, 'data');
  const bed = await openModules(t, {
    modules: [standIn(metering, {}), standIn(security, {}), inference, cluster],
    databaseUrl,
    dataDir,
    services: { node: { ...scriptedNode, id, dataDir } },
    settings: { 'cluster.listen': '127.0.0.1:0', 'inference.probe_models': false },
  });
  const { service } = bed.module(inference).api;
  const listed = async () => await service.models(ANONYMOUS);
  const address = async (): Promise<string> => {
    const found = (await store().nodes()).find((node) => node.id === id);
    return found?.address ?? '';
  };
  const store = () => new NodeStore(bed.storage.access<ClusterTables>());
  /** Asks a model and hears what it says. */
  const chat = async (model: string, content = 'hi', abort = signal) => {
    const said = new Said();
    const headers = new Map<string, string>();
    const found = await service.resolve({ ability: 'chat', model, ...NEEDS }, ANONYMOUS);
    const prompt = { kind: 'chat', messagesJson: JSON.stringify([{ role: 'user', content }]) } as const;
    const options = {
      tenant: 'default',
      signal: abort,
      announce: (name: string, value: string) => void headers.set(name, value),
    };
    const running = await service.complete(found, { model, ...NEEDS, job: { prompt } }, said, options);
    return { said, running, headers };
  };
  return { bed, binding, engine: binding.engine, service, listed, address, store, chat, dataDir };
}

class Said implements CompletionSink {
  readonly isStreamed = true;
  readonly calls: unknown[] = [];
  text = '';
  readonly ended = Promise.withResolvers<Error | undefined>();
  begin(): void {}
  onStart(...values: unknown[]): void {
    this.calls.push(['start', ...values]);
  }
  onContent(_: number, body: Buffer): void {
    this.text += body.toString();
  }
  onReasoning(_: number, body: Buffer): void {
    this.calls.push(['reasoning', body.toString()]);
  }
  onReasoningDetail(...values: unknown[]): void {
    this.calls.push(['thought', ...values]);
  }
  onToolCall(...values: unknown[]): void {
    this.calls.push(['tool', ...values]);
  }
  onToolArguments(choice: number, index: number, body: Buffer): void {
    this.calls.push(['arguments', choice, index, body.toString()]);
  }
  onLogprobs(choice: number, tokens: unknown): void {
    this.calls.push(['logprobs', choice, tokens]);
  }
  onFinish(...values: unknown[]): void {
    this.calls.push(['finish', ...values]);
  }
  onDone(usage: unknown): void {
    this.calls.push(['done', usage]);
    this.ended.resolve(undefined);
  }
  onError(error: Error): void {
    this.ended.resolve(error);
  }
  onFlush(): void {}
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(10);
}

function answerWith(text: string): (sink: CompletionSink) => void {
  return (sink) => {
    sink.onStart(7, 2);
    sink.onContent(0, Buffer.from(text));
    sink.onFinish(0, 'stop', '');
    sink.onDone(scriptedUsage);
  };
}

t.test('models of other nodes', { skip: PostgresCluster.missing() ?? false, timeout: 120_000 }, async (t) => {
  const server = await PostgresCluster.start();
  t.teardown(() => server.remove());
  const url = await server.newDatabase();
  const front = await openNode(t, 'front', url, ['own']);
  const back = await openNode(t, 'back', url, ['far', 'embed-far', 'own']);
  await until(async () => (await front.listed()).length === 3);

  await t.test('are listed once, with the nodes that have them', async (t) => {
    const listed = (await front.listed()).map(({ id, nodes }) => [id, nodes?.length]);
    t.strictSame(listed.toSorted(), [
      ['embed-far', 1],
      ['far', 1],
      ['own', undefined],
    ]);
  });

  await t.test('answer as the node itself does, record for record', async (t) => {
    const token = { token: 5, bytes: Buffer.from([0xc3]), logprob: -1, top: [] };
    back.engine.script = (sink) => {
      sink.onStart(7, 2);
      sink.onReasoning(0, Buffer.from('hm'));
      sink.onLogprobs(0, [token]);
      sink.onContent(0, Buffer.from('a \\n \\"b\\" \u00e9'));
      sink.onToolCall(0, 0, 'id1', 'look');
      sink.onToolArguments(0, 0, Buffer.from('{\\"a\\":1}'));
      sink.onFinish(0, 'tool_calls', '');
      sink.onDone(scriptedUsage);
    };
    const { said, headers } = await front.chat('far');
    t.equal(await said.ended.promise, undefined);
    t.equal(said.text, 'a \\n \\"b\\" \u00e9');
    t.match(said.calls, [
      ['start', 7, 2],
      ['reasoning', 'hm'],
      ['logprobs', 0, [{ token: 5, bytes: Buffer.from([0xc3]) }]],
      ['tool', 0, 0, 'id1', 'look'],
      ['arguments', 0, 0, '{\\"a\\":1}'],
      ['finish', 0, 'tool_calls', ''],
      ['done', scriptedUsage],
    ]);
    t.ok(headers.get('x-svc-node'));
    t.match(back.engine.jobs.at(-1)?.job, { tenant: 'default', prompt: { kind: 'chat' } });
    t.match(front.bed.metrics.expose(), 'svc_cluster_forwards_total{outcome="ok"} 1');
  });

  await t.test('of providers are asked of the node that has the key, which bills them', async (t) => {
    const counts = { nReasoningTokens: 0, nCacheWrite5mTokens: 0, nCacheWrite1hTokens: 0, nAudioTokens: 0, nImageTokens: 0 };
    const provided = { ...counts, backend: 'acme', costMicros: 42, currency: 'EUR', isEstimated: false };
    const billed = { ...scriptedUsage, provider: provided };
    const facts = {
      id: 'cloudy',
      kind: 'chat',
      family: '',
      createdAt: 1,
      ownedBy: 'openai',
      state: 'remote',
      backend: 'acme',
    } as const;
    const none = { tools: false, vision: false, audio: false, thinking: false, embeddings: false, rerank: false };
    // Providers say nothing of completion.
    const capabilities = { ...none, chat: true } as ModelCard['capabilities'];
    const provider = (servingState: 'ok' | 'disabled') => ({
      unavailableReason: () => undefined,
      models: async () => [{ ...facts, capabilities, servingState, costOf: (a: number, b: number) => 2 * a + 3 * b }],
      complete: async (_: unknown, __: unknown, sink: CompletionSink) => {
        if (servingState === 'disabled') throw inferenceErrors.error('model_not_ready', 'no key');
        setImmediate(() => {
          sink.onStart(7, 0, 'cloudy-2');
          sink.onReasoningDetail(0, { type: 'thinking', signature: 'abc' });
          sink.onContent(0, Buffer.from('from afar'));
          sink.onFinish(0, 'stop', '');
          sink.onDone(billed);
          sink.onFlush();
        });
        return { cancel: () => {}, pause: () => {}, resume: () => {}, release: () => {} };
      },
    });
    const remove = [front, back].map(({ service }, i) => service.addBackend(provider(i === 0 ? 'disabled' : 'ok') as never));
    const card = async () => (await front.service.modelsOfNodes(ANONYMOUS, 'here')).filter(({ id }) => id === 'cloudy');
    await until(async () => (await card())[0]?.nodes !== undefined);
    t.match(await card(), [{ backend: /^acme@./, nodes: [String], servingState: 'ok' }]);
    t.equal((await card()).length, 1);
    t.equal((await card())[0]?.costOf?.(10, 100), 320);
    const { said } = await front.chat('cloudy');
    t.equal(await said.ended.promise, undefined);
    t.equal(said.text, 'from afar');
    t.match(said.calls, [
      ['start', 7, 0, 'cloudy-2'],
      ['thought', 0, { signature: 'abc' }],
      ['finish'],
      ['done', { provider: { costMicros: 42 } }],
    ]);
    remove[1]?.();
    await until(async () => (await card())[0]?.nodes === undefined);
    await t.rejects(front.chat('cloudy'), { code: 'model_not_ready' }, 'a key that no node has');
    remove[0]?.();
    t.match(
      (await front.service.modelsOfNodes(ANONYMOUS, 'here')).find(({ id }) => id === 'own')?.nodes,
      ['here', String],
      'a model of both is one row',
    );
  });

  await t.test('embed, rank and count there too', async (t) => {
    const { service } = front;
    const embedder = await service.resolve({ ability: 'embeddings', model: 'embed-far' }, ANONYMOUS);
    const { vectors, nTokens } = await service.embed(embedder, ['one', Int32Array.of(1, 2)], { tenant: 'default', signal });
    t.strictSame(
      [vectors.map((vector) => [...vector]), nTokens],
      [
        [
          [3, 4, 0],
          [3, 4, 0],
        ],
        [2, 2],
      ],
    );
    const chatting = await service.resolve({ ability: 'tokenize', model: 'far' }, ANONYMOUS);
    t.strictSame(
      [...(await service.tokenize(chatting, 'abc', { addSpecial: false, parseSpecial: false }, { tenant: 'default', signal }))],
      [0, 1, 2],
    );
    t.strictSame(await service.detokenize(chatting, [Int32Array.of(4)], { tenant: 'default', signal }), ['<4>']);
  });

  await t.test('refuse with their own error, and the client of a lost one is told', async (t) => {
    back.engine.refusal = new NativeError({
      code: 'context_length_exceeded',
      text: 'too long',
      details: { nPromptTokens: 9, nCtx: 8 },
    });
    const { said } = await front.chat('far');
    t.match(await said.ended.promise, { code: 'context_length_exceeded', extra: { n_ctx: 8 } });
    back.engine.refusal = undefined;
  });

  await t.test('are cancelled and paused from afar', async (t) => {
    back.engine.script = (sink) => {
      sink.onStart(1, 0);
      sink.onContent(0, Buffer.from('x'));
    };
    const { said, running } = await front.chat('far');
    await until(() => said.text === 'x');
    running.pause();
    const job = back.engine.jobs.at(-1);
    const piece = Buffer.alloc(1024 * 1024, 'y');
    await until(() => {
      job?.sink.onContent(0, piece);
      job?.sink.onFlush();
      return back.engine.calls.includes(`pause ${job?.id}`);
    });
    running.resume();
    await until(() => back.engine.calls.includes(`resume ${job?.id}`));
    running.cancel();
    await until(() => back.engine.calls.includes(`cancel ${job?.id}`));
    t.match(front.bed.metrics.expose(), 'svc_cluster_forwards_total{outcome="cancelled"} 1');
  });

  await t.test('begin again at another node until the first content, and never after it', async (t) => {
    const third = await openNode(t, 'third', url, ['far']);
    const both = async () => (await front.listed()).some(({ id, nodes }) => id === 'far' && nodes?.length === 2);
    await until(both);
    const nBefore = back.engine.jobs.length;
    back.engine.script = (sink) => {
      sink.onStart(1, 0);
      sink.onError(new NativeError({ code: 'queue_full', text: 'full' }));
    };
    third.engine.script = answerWith('third');
    for (let i = 0; i < 20; i++) {
      const { said } = await front.chat('far', `chat ${i}`);
      t.equal(await said.ended.promise, undefined);
      t.strictSame([said.text, said.calls.length], ['third', 3]);
    }
    t.ok(back.engine.jobs.length > nBefore, 'some of them were at the other node first');
    // The answers that this one has begun end with it.
    const begun: Said[] = [];
    third.engine.script = (sink) => {
      sink.onStart(1, 0);
      sink.onContent(0, Buffer.from('begun'));
    };
    for (let i = 0; i < 5; i++) begun.push((await front.chat('far', `cut ${i}`)).said);
    await until(() => begun.every(({ text }) => text === 'begun'));
    back.engine.script = answerWith('back');
    await third.store().remove('third');
    for (const said of begun) {
      t.match(await said.ended.promise, { code: 'node_lost' });
      t.equal(said.calls.length, 1);
    }
    await third.bed.stop();
    const { said } = await front.chat('far', 'after');
    t.equal(await said.ended.promise, undefined);
    t.equal(said.text, 'back');
  });

  await t.test('a link lets in nobody but nodes of the database', async (t) => {
    const [host, port] = (await back.address()).split(':');
    const stranger = await createSelfSigned({ folder: join(newFolder(t), 'x'), isForClients: true });
    const own = await openNodeCertificate(join(front.dataDir, 'cluster'), 'front');
    const fake = { cert: readFileSync(stranger.certFile), key: readFileSync(stranger.keyFile) };
    const ask = (options: ConnectionOptions, head: string) =>
      answerOf({ host, port: Number(port), rejectUnauthorized: false, ...options }, head);
    const get = 'GET /node HTTP/1.1\r\nhost: x\r\nx-svc-wire: 1\r\nconnection: close\r\n\r\n';
    t.match(await ask(own, get), /^HTTP\/1.1 200 .*"id":"back"/s);
    t.equal(await ask({}, get), '', 'without a certificate');
    t.equal(await ask(fake, get), '', 'with a certificate of its own');
    t.equal(await ask({ ...own, maxVersion: 'TLSv1.2' }, get), '', 'by an old TLS');
    t.match(await ask(own, get), /^x-svc-wire: 2\r$/im, 'it says what it speaks');
    for (const version of ['3', '0', '-1', '1, 2', '']) {
      const refused = await ask(own, get.replace('wire: 1', `wire: ${version}`));
      t.match(
        refused,
        /^HTTP\/1.1 409 .*x-svc-link: refused.*wire versions 1 and 2.*controllers and edge nodes are updated first/is,
      );
    }
    t.match(await ask(own, get.replace('wire: 1', 'wire: 2')), /^HTTP\/1.1 200 .*SVCL/s, 'a frame');
    const facts = { id: 'back', name: 'back', isReady: true, isMember: false, modules: [] };
    const pems = (await back.store().certificates()).filter(({ node }) => node === 'back').map(({ pem }) => pem);
    const peer = new Peer({ ...facts, address: await back.address(), certificates: pems }, own, 5_000);
    t.teardown(() => peer.close());
    const asked = [peer.version];
    for (let i = 0; i < 2; i++) {
      await peer.refresh(signal);
      asked.push(peer.version);
    }
    t.strictSame(
      asked,
      [WIRE_BEFORE, WIRE_VERSION, WIRE_VERSION],
      'a node is asked in the newer version once it said that it speaks it',
    );
    (await peer.ask('/credential', signal, '{}')).discard();
    t.equal(peer.version, WIRE_VERSION, 'nor does it forget it when it has a credential judged');
    t.strictSame([...peer.cards.keys()].toSorted(), ['embed-far', 'far', 'own']);
    peer.version = 3;
    await t.rejects(peer.refresh(signal), {
      code: 'wire_version_refused',
      message: /controllers and edge nodes are updated first/,
    });
    t.match(await ask(own, get.replace('/node', '/v1/models')), /^HTTP\/1.1 404 /);
    const post = (path: string, body: string) =>
      get.replace('GET /node', `POST ${path}`).replace('\r\n\r\n', `\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    for (const body of [
      '',
      '{',
      '{"$bytes":1}',
      'null',
      '{"model":"far","method":"constructor"}',
      '{"model":"far","request":{},"options":{}}',
    ]) {
      t.notMatch(await ask(own, post('/complete', body)), /"onDone"|"onStart"/);
      t.notMatch(await ask(own, post('/whole', body)), /"value":/);
    }
    const asksFor = { model: 'far', options: { tenant: 'default' } };
    const request = { model: 'far', ...NEEDS, job: { prompt: { kind: 'text', text: 'x' } } };
    for (const [path, work] of [
      ['/complete', { ...asksFor, request }],
      ['/whole', { ...asksFor, method: 'contextTokens', arguments: [] }],
    ] as const)
      t.match(
        await ask(own, post(path, JSON.stringify(work))),
        /^x-svc-load: \d+ \d+ \d+\r$/im,
        'an answer says how much the node has to do',
      );
    t.match(await ask(own, get), /^HTTP\/1.1 200 /, 'the node goes on');
  });

  await t.test('a node that tells how it is, and does not answer on its link, is suspect', async (t) => {
    const { cert } = await openNodeCertificate(join(newFolder(t), 'cluster'), 'deaf');
    const [row] = await front.store().nodes();
    const { seenMsAgo: _, ...told } = row as NonNullable<typeof row>;
    await front.store().register({ ...certificateRow('deaf', new X509Certificate(cert)), is_member: 0, is_standby: 0 });
    await front.store().beat({ ...told, id: 'deaf', address: '127.0.0.1:9' });
    const seen = async () => {
      const { nodes } = (await front.bed.send('GET', '/api/v1/cluster/topology')).body;
      return nodes.find(({ id }: { id: string }) => id === 'deaf');
    };
    await until(async () => (await seen()).state === 'suspect');
    t.ok((await seen()).last_seen_seconds < told.heartbeat_ms / 1_000, 'its heartbeat is not late');
    await front.store().remove('deaf');
    t.equal(await seen(), undefined);
  });

  await t.test('a node that is removed is refused at once, on open connections too', async (t) => {
    const isShared = async () => (await front.listed()).some(({ nodes }) => nodes !== undefined && nodes.length > 0);
    t.ok(await isShared());
    const own = await openNodeCertificate(join(front.dataDir, 'cluster'), 'front');
    const [host, port] = (await back.address()).split(':');
    const [row] = (await back.store().certificates()).filter(({ node }) => node === 'front');
    const told = Promise.withResolvers<string>();
    const listener = back.bed.storage.listen(REMOVALS, {
      onListening: async () => undefined,
      onNotification: told.resolve,
      onLost: () => undefined,
    });
    t.teardown(() => listener?.stop());
    listener?.start();
    await until(() => listener?.isLive === true);
    const tookMs: number[] = [];
    for (let i = 0; i < nRemovals; i++) {
      await front.store().register(row as NonNullable<typeof row>);
      await until(isShared);
      const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ...own }).on('error', () => undefined);
      await once(socket, 'secureConnect');
      const ended = once(socket, 'close');
      await front.store().remove('front');
      const removedAt = performance.now();
      await ended;
      tookMs.push(performance.now() - removedAt);
      await until(async () => !(await isShared()));
    }
    t.equal(await told.promise, '', 'nodes are told, and need not wait for their next reading of the list');
    const median = tookMs.toSorted((a, b) => a - b)[Math.floor(nRemovals / 2)] as number;
    t.comment(`ms after the removal: ${tookMs.map(Math.round).join(', ')}`);
    // A machine that is busy for a moment is no fault of the nodes.
    t.ok(median < 1_000);
  });
});

t.test('the certificate of a node is its own, and made again where it cannot be used', async (t) => {
  const folder = join(newFolder(t), 'cluster');
  const first = await openNodeCertificate(folder, 'N1');
  const days = (first.expiresAt - Date.now()) / 86_400_000;
  t.ok(days > 28 && days <= 30);
  const late = first.expiresAt - 1;
  t.same(await openNodeCertificate(folder, 'N1', late), first, 'the others know it, and may know no other');
  const next = await openNextCertificate(folder, 'N1', Date.now());
  t.same(await openNextCertificate(folder, 'N1', late), next, 'as it was registered');
  t.same(await openNodeCertificate(folder, 'N1', late), first);
  const crashed = join(newFolder(t), 'cluster');
  cpSync(folder, crashed, { recursive: true });
  renameSync(join(crashed, 'next.key'), join(crashed, 'node.key'));
  for (const each of [folder, crashed]) {
    if (each === folder) await takeNextCertificate(each);
    t.same(await openNodeCertificate(each, 'N1', late), next);
    t.strictSame(readdirSync(each).toSorted(), ['node.key', 'node.pem']);
  }
  t.not((await openNodeCertificate(folder, 'N1', next.expiresAt)).fingerprint, next.fingerprint, 'its end is over');
  const other = await openNodeCertificate(folder, 'n2');
  t.not(other.fingerprint, first.fingerprint, 'a copy of the folder is another node');
  writeFileSync(join(folder, 'node.pem'), 'torn');
  t.not((await openNodeCertificate(folder, 'n2')).fingerprint, other.fingerprint);
  t.equal(statSync(join(folder, 'node.key')).mode & 0o777, 0o600);
});

/** Resolves to all that a server says; empty: it says nothing. */
function answerOf(options: ConnectionOptions, head: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(options, () => socket.write(head));
    socket.setTimeout(5_000, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}
