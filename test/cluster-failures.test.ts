/** Whole programs: two controllers on one PostgreSQL and a member that sends all on, with processes that are killed and stopped. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { PostgresCluster } from '../ts/server/platform/storage/test-support/postgres-cluster.ts';
import { type ChildServer, freePort } from './child-server.ts';
import { send, sendJson } from './http.ts';
import { openAiDialect } from './providers/openai.ts';
import { startProvider } from './providers/provider-server.ts';
import { chatModel, startServer } from './server.ts';
import { waitsOf } from './soak/cluster/processors.ts';
import { iterations } from './test-support/iterations.ts';

const account = { username: 'root', password: 'correct horse battery staple' };

async function startNode(t: Test, folder: string, databaseUrl: string | undefined, hasModel: boolean): Promise<ChildServer> {
  const env = {
    ...(databaseUrl !== undefined && { SVC_DATABASE_URL: databaseUrl }),
    SVC_CLUSTER_LISTEN: `127.0.0.1:${await freePort()}`,
    SVC_CLUSTER_HEARTBEAT_SECONDS: '1',
    SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1',
    SVC_CLUSTER_ENTRY_SECONDS: '20',
  };
  return await startServer(t, { models: hasModel ? { [chatModel]: { arch: 'llama' } } : {}, env, folder });
}

/** The code of the error frame of a stream, `done`, or `cut` where it has neither. */
function endOf(text: string): string {
  const error = /^data: (\{"error":.*\})$/m.exec(text)?.[1];
  if (error !== undefined) return JSON.parse(error).error.code;
  return text.includes('data: [DONE]') ? 'done' : 'cut';
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(20);
}

interface Took {
  readonly ms: number;
  /** Without the time in which the machine had no processor for one of the processes. */
  readonly ownMs: number;
}

function lateness(all: readonly Took[]): string {
  const [ms, ownMs] = [all.map((took) => took.ms), all.map((took) => took.ownMs)];
  const late = (values: readonly number[]): string =>
    `${Math.max(...values)} ms, ${values.filter((value) => value > 1_000).length} of ${values.length} later than a second`;
  return `after the rotation at most ${late(ms)}; without waits for a processor ${late(ownMs)}`;
}

/** The longest time in milliseconds that one of the processes waited for a processor between the two. */
function longestWait(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  return Math.round(Math.max(...[...after].map(([pid, ms]) => ms - (before.get(pid) ?? ms))));
}

const nRotations = iterations(2, 100, 'SVC_TEST_ROTATIONS');
/** One rotation on a machine that is busy with much else. */
const ROTATION_MS = 6_000;
const limits = { skip: PostgresCluster.missing() ?? false, timeout: 400_000 + nRotations * ROTATION_MS };

t.test('two controllers and a member', limits, async (t) => {
  const postgres = await PostgresCluster.start();
  t.teardown(() => postgres.remove());
  const url = await postgres.newDatabase();
  const folder = t.testdir();
  const one = await startNode(t, join(folder, 'one'), url, true);
  const two = await startNode(t, join(folder, 'two'), url, true);
  const { token: root } = await sendJson<{ token: string }>(one.url, '/api/v1/auth/register', account);
  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  const { json } = await send(`${one.url}/api/v1/cluster/join-tokens`, { method: 'POST', body: {}, headers: as(root) });
  const joining = {
    SVC_DATA_DIR: join(folder, 'member', 'data'),
    SVC_LISTEN: '127.0.0.1:1',
    SVC_CLUSTER_LISTEN: '127.0.0.1:1',
  };
  const joinStopped = () => runCli(['node', 'join', String(json?.['token'])], { env: joining });
  t.match(await joinStopped(), { code: 0, stdout: /^joined the cluster of 127\.0\.0\.1:/ }, 'a stopped node joins');
  t.match(await joinStopped(), { stderr: /belongs to a cluster already/ });
  const member = await startNode(t, join(folder, 'member'), undefined, false);
  const get = async (server: ChildServer, path: string, key = root) => await send(server.url + path, { headers: as(key) });
  const newKey = async (): Promise<string> => {
    const made = await send(`${one.url}/api/v1/identity/keys`, { method: 'POST', body: { name: 'k' }, headers: as(root) });
    return String(made.json?.['api_key']);
  };
  const stream = (server: ChildServer, key: string) =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...as(key) },
      body: JSON.stringify({
        model: chatModel,
        messages: [{ role: 'user', content: 'tell me' }],
        max_tokens: 100_000,
        ignore_eos: true,
        stream: true,
      }),
    });
  await until(async () => (await get(member, '/v1/models')).text.includes(chatModel));

  await t.test('a key that is rotated on one node is refused on all, and what it has open ends', async (t) => {
    const nodes = { one, two, member };
    const pids = [process.pid, ...Object.values(nodes).map(({ pid }) => pid)];
    const took: Took[] = [];
    for (let i = 0; i < nRotations; i++) {
      const key = await newKey();
      const all = Object.entries(nodes);
      for (const [, node] of all) t.equal((await get(node, '/api/v1/auth/whoami', key)).status, 200);
      const open = await Promise.all(all.map(async ([name, node]) => ({ name, answer: await stream(node, key) })));
      t.ok(open.every(({ answer }) => answer.status === 200));
      const ends = open.map(({ name, answer }) => ({ name, end: answer.text().then(endOf) }));
      const rotated = await send(`${one.url}/api/v1/users/me/api-key`, { method: 'POST', headers: as(key) });
      t.equal(rotated.status, 200);
      const [at, waitedMs] = [performance.now(), waitsOf(pids)];
      const lagOf = async (what: string, done: Promise<unknown>) => {
        await done;
        return { what, ms: Math.round(performance.now() - at) };
      };
      const refused = async (node: ChildServer) => (await get(node, '/api/v1/auth/whoami', key)).status === 401;
      t.ok(await refused(one));
      const lags = await Promise.all([
        ...all.map(([name, node]) =>
          lagOf(
            `refusal of ${name}`,
            until(() => refused(node)),
          ),
        ),
        ...ends.map(({ name, end }) => lagOf(`stream of ${name}`, end)),
      ]);
      t.strictSame(await Promise.all(ends.map(({ end }) => end)), ['invalid_api_key', 'invalid_api_key', 'invalid_api_key']);
      const [ms, waited] = [Math.max(...lags.map((lag) => lag.ms)), longestWait(waitedMs, waitsOf(pids))];
      took.push({ ms, ownMs: ms - waited });
      const late = lags.filter((lag) => lag.ms > 1_000).map((lag) => `${lag.what} ${lag.ms} ms`);
      if (late.length > 0) t.comment(`rotation ${i + 1}: ${late.join(', ')}; for a processor waited ${waited} ms`);
      if ((i + 1) % 50 === 0) t.comment(lateness(took));
    }
    t.comment(lateness(took));
    // A disk that is busy for a moment is no fault of the nodes.
    if (took.length >= 100) t.ok(took.filter(({ ownMs }) => ownMs > 1_000).length <= took.length / 100);
  });

  await t.test('svc doctor looks at the cluster of a node, whichever way it is in it', async (t) => {
    const env = (folderName: string, more: object) => ({
      SVC_DATA_DIR: join(folder, folderName, 'data'),
      SVC_LISTEN: '127.0.0.1:1',
      SVC_CLUSTER_LISTEN: '127.0.0.1:1',
      ...more,
    });
    for (const given of [env('one', { SVC_DATABASE_URL: url }), env('member', {})]) {
      const { stdout } = await runCli(['doctor', '--json'], { env: given });
      const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
      t.match(
        checks.find(({ name }) => name === 'cluster'),
        { state: 'ok', finding: /^3 nodes of version/ },
      );
    }
    const { stdout } = await runCli(['node', 'list', '--url', member.url], { env: { SVC_API_KEY: root } });
    t.equal(stdout.match(/ ready, leads /g)?.length, 1, stdout);
  });

  await t.test('a member gives its clients no right that is for the network of the machine alone', async (t) => {
    const open = '/api/v1/cloud/backends/public';
    t.equal((await fetch(one.url + open)).status, 200);
    t.equal((await fetch(member.url + open)).status, 401);
    t.equal((await get(member, open)).status, 200);
    const form = new FormData();
    form.append('purpose', 'assistants');
    form.append('file', new Blob(['words of a file'], { type: 'text/plain' }), 'words.txt');
    const coded = new Response(form);
    const upload = await fetch(`${member.url}/v1/files`, {
      method: 'POST',
      headers: { ...as(root), 'content-type': coded.headers.get('content-type') as string },
      body: coded.body,
      duplex: 'half',
    } as RequestInit);
    t.equal(upload.status, 200, 'though a body in chunks is taken there');
    await upload.arrayBuffer();
  });

  await t.test('a stream goes on from whichever node, by its name', async (t) => {
    const conversation = await send(`${two.url}/api/v1/edge/conversations`, { method: 'POST', body: {}, headers: as(root) });
    const asked = await fetch(`${two.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...as(root) },
      body: JSON.stringify({
        model: chatModel,
        messages: [{ role: 'user', content: 'tell me' }],
        conversation_id: conversation.json?.['id'],
        max_tokens: 24,
        stream: true,
        resumable: true,
      }),
    });
    const name = asked.headers.get('x-svc-stream') ?? '';
    t.match(name, /^[\w-]+@[0-9a-f-]{36}$/);
    const events = (text: string) => text.split('\n\n').filter((event) => event.startsWith('id: '));
    const expected = events(await asked.text());
    t.ok(expected.length > 1);
    for (const node of [one, two, member]) {
      const follow = await get(node, `/api/v1/edge/conversations/streams/${encodeURIComponent(name)}`);
      t.strictSame(events(follow.text), expected);
      t.equal((await get(node, `/api/v1/edge/conversations/streams/none@${name.split('@')[1]}`)).status, 404);
    }
    const listed = async (node: ChildServer) => (await get(node, '/api/v1/edge/conversations/streams')).json;
    t.match(await listed(two), { data: [{ stream: name, state: 'completed' }] });
    for (const node of [one, member]) t.strictSame(await listed(node), await listed(two), 'and is listed everywhere');
    const list = (await get(member, '/api/v1/models')).json as { models: { id: string; nodes?: string[] }[] };
    t.equal(list.models.find(({ id }) => id === chatModel)?.nodes?.length, 2, 'a model of two nodes is one row');
  });

  await t.test('each node has the same lists', async (t) => {
    const provider = await startProvider(t, openAiDialect);
    t.equal((await send(`${two.url}/api/v1/edge/conversations`, { method: 'POST', body: {}, headers: as(root) })).status, 201);
    const backend = { id: 'far', kind: 'openai', base_url: `${provider.origin}/v1`, key: 'sk-planted-0123456789' };
    const more = { model_filter: { include: ['model-a'] } };
    const made = await send(`${two.url}/api/v1/cloud/backends`, {
      method: 'POST',
      body: { ...backend, ...more },
      headers: as(root),
    });
    t.equal(made.status, 201);
    for (const node of [one, member]) await until(async () => (await get(node, '/api/v1/models')).text.includes('model-a'));
    for (const path of [
      '/api/v1/agent/tools',
      '/api/v1/users/me/conversations',
      '/api/v1/metering/quotas',
      '/api/v1/system/jobs',
    ]) {
      const expected = await get(one, path);
      t.equal(expected.status, 200, path);
      for (const node of [two, member]) t.strictSame((await get(node, path)).json, expected.json, path);
    }
    for (const path of ['/v1/models', '/api/v1/models'])
      for (const node of [one, two, member]) {
        const { text, json } = await get(node, path);
        const rows = (json?.['data'] ?? json?.['models']) as { id: string; nodes?: string[]; backend?: string }[];
        t.strictSame(rows.map(({ id }) => id).toSorted(), ['model-a', chatModel].toSorted(), 'a row a model');
        t.notMatch(text, /planted/);
        const { backend: where } = rows.find(({ id }) => id === 'model-a') ?? {};
        t.match(where, node === two ? /^far$/ : /^far(@.+)?$/);
      }
  });

  await t.test('says in figures how it is', async (t) => {
    const { text } = await send(`${one.url}/metrics`);
    for (const name of ['nodes', 'map_age_seconds', 'epoch', 'running', 'prefix_tokens_saved_total', 'forward_retries_total'])
      t.match(text, new RegExp(`^svc_cluster_${name} \\d`, 'm'), name);
    t.match(text, /^svc_cluster_nodes 3$/m);
    const epochs = await Promise.all([one, two].map(async ({ url: at }) => (await send(`${at}/metrics`)).text));
    t.equal(epochs.filter((figures) => /^svc_cluster_epoch [1-9]/m.test(figures)).length, 1, 'one of them leads');
  });

  await t.test('a controller that is killed costs no request that may be repeated', async (t) => {
    const statuses: number[] = [];
    let isOver = false;
    const clients = Array.from({ length: 4 }, async () => {
      while (!isOver) statuses.push((await get(member, '/api/v1/auth/whoami')).status);
    });
    await until(async () => statuses.length > 12);
    await two.stop('SIGKILL');
    const nBefore = statuses.length;
    await until(async () => statuses.length > nBefore + 40);
    isOver = true;
    await Promise.all(clients);
    t.strictSame([...new Set(statuses)], [200]);
  });

  await t.test('a controller that is stopped in the middle of a stream ends it with an error, and is found again', async (t) => {
    const open = await stream(member, root);
    t.equal(open.status, 200);
    const text = open.text();
    // More than its head is on its way.
    await until(async () =>
      /svc_cluster_requests_sent_on_total\{outcome="ok"\} [1-9]/.test(await (await fetch(`${member.url}/metrics`)).text()),
    );
    process.kill(one.pid, 'SIGSTOP');
    try {
      t.equal(endOf(await text), 'node_lost');
      t.match((await text).slice(-500), /\n\nevent: error\n|\n\ndata: \{"error"/, 'behind the event before');
      t.match(await get(member, '/v1/models'), { status: 503, json: { error: { code: 'credential_check_unavailable' } } });
      t.match((await send(`${member.url}/metrics`)).text, /svc_cluster_requests_sent_on_total\{outcome="lost"\} [1-9]/);
    } finally {
      process.kill(one.pid, 'SIGCONT');
    }
    await until(async () => (await get(member, '/v1/models')).status === 200);
  });

  await t.test('one that is killed in the middle of a stream ends it with an error at once', async (t) => {
    const open = await stream(member, root);
    t.equal(open.status, 200);
    const text = open.text();
    await one.stop('SIGKILL');
    t.equal(endOf(await text), 'node_lost');
  });
});
