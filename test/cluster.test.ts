/** Whole programs on one PostgreSQL: a node answers with the models of others, and the loss of one of them costs a retry. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { writeForwardedFacts } from '../ts/server/platform/http/forwarding.ts';
import { PostgresCluster } from '../ts/server/platform/storage/test-support/postgres-cluster.ts';
import type { ChildServer } from './child-server.ts';
import { freePort } from './child-server.ts';
import { send, sendJson } from './http.ts';
import { chatModel, embeddingModel, startServer } from './server.ts';
import { iterations } from './test-support/iterations.ts';

const account = { username: 'root', password: 'correct horse battery staple' };

async function startNode(
  t: Test,
  databaseUrl: string,
  folder: string,
  models: Record<string, { arch: 'llama' | 'bert' }>,
  roles = '',
) {
  const listen = `127.0.0.1:${await freePort()}`;
  const env = {
    SVC_DATABASE_URL: databaseUrl,
    SVC_CLUSTER_LISTEN: listen,
    SVC_NODE_ROLES: roles,
    SVC_CLUSTER_HEARTBEAT_SECONDS: '1',
    SVC_CLUSTER_ENTRY_SECONDS: '3',
  };
  return await startServer(t, { models, env, folder });
}

function chat(server: ChildServer, content: string, stream: boolean): Promise<Response> {
  return fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: chatModel, messages: [{ role: 'user', content }], temperature: 0, max_tokens: 24, stream }),
  });
}

/** The text of a stream, and how it ended: `done`, or the code of its error frame. */
function readStream(text: string): { said: string; end: string | undefined } {
  let said = '';
  let end: string | undefined;
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: ')) continue;
    if (line === 'data: [DONE]') {
      end ??= 'done';
      continue;
    }
    const frame = JSON.parse(line.slice(6));
    if (frame.error !== undefined) end = String(frame.error.code);
    said += frame.choices?.[0]?.delta?.content ?? '';
  }
  return { said, end };
}

async function nodesOf(server: ChildServer): Promise<string[] | undefined> {
  const { models } = (await (await fetch(`${server.url}/api/v1/models`)).json()) as {
    models: { id: string; nodes?: string[] }[];
  };
  return models.find(({ id }) => id === chatModel)?.nodes;
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(50);
}

t.test('three nodes of one database', { skip: PostgresCluster.missing() ?? false, timeout: 240_000 }, async (t) => {
  const postgres = await PostgresCluster.start();
  t.teardown(() => postgres.remove());
  const url = await postgres.newDatabase();
  const folder = t.testdir();
  const front = await startNode(
    t,
    url,
    join(folder, 'front'),
    { [embeddingModel]: { arch: 'bert' } },
    'controller,edge,inference',
  );
  const one = await startNode(t, url, join(folder, 'one'), { [chatModel]: { arch: 'llama' } });
  const two = await startNode(t, url, join(folder, 'two'), { [chatModel]: { arch: 'llama' } });
  await until(async () => (await nodesOf(front))?.length === 2);

  await t.test('an answer from afar is the one that the node gives itself', async (t) => {
    const near = await chat(one, 'tell me', true);
    const far = await chat(front, 'tell me', true);
    t.equal(near.headers.get('x-svc-node'), null);
    t.ok(far.headers.get('x-svc-node'));
    const [expected, found] = [readStream(await near.text()), readStream(await far.text())];
    t.ok(expected.said.length > 0);
    t.strictSame(found, { ...expected, end: 'done' });
    const whole = (await (await chat(front, 'tell me', false)).json()) as {
      choices: { message: { content: string } }[];
      usage: object;
    };
    t.equal(whole.choices[0]?.message.content, expected.said);
    t.match(whole.usage, { completion_tokens: Number });
  });

  await t.test('a path whose module does not run on the node is answered by one where it does', async (t) => {
    const form = new FormData();
    form.append('purpose', 'assistants');
    form.append('file', new Blob(['words of a file'], { type: 'text/plain' }), 'words.txt');
    const stored = await fetch(`${front.url}/v1/files`, { method: 'POST', body: form });
    const { id } = (await stored.json()) as { id: string };
    t.equal(stored.status, 200);
    t.equal(await (await fetch(`${front.url}/v1/files/${id}/content`)).text(), 'words of a file');
    t.match(await send(`${front.url}/v1/files/file-nothing`), { status: 404 });
  });

  await t.test(
    'memory files of all nodes are listed by each, and a request is answered by the node that has its file',
    async (t) => {
      const on = (server: ChildServer, method: string, path: string, body?: object) =>
        send(`${server.url}/api/v1/${path}`, { method, ...(body && { body }) });
      t.match(await on(one, 'POST', 'exmm/export', { file: 'one.exmm' }), { status: 202 });
      t.match(await on(two, 'POST', 'exmm/export', { file: 'two.exmm' }), { status: 202 });
      // On a busy machine a node counts as gone for a moment, and its part is missing.
      for (const server of [one, two, front]) {
        const listed = async () => {
          const { data } = (await on(server, 'GET', 'exmm/models')).json as unknown as { data: { file: string; node: string }[] };
          return data.map(({ file }) => file).join() === 'one.exmm,two.exmm' && data[0]?.node !== data[1]?.node;
        };
        await until(listed);
        for (const file of ['one.exmm', 'two.exmm']) {
          const missing = `exmm/shard?file=${file}&section=slots:me`;
          await until(async () => (await on(server, 'DELETE', missing)).json?.['error'] === 'memory_section_not_found');
        }
        t.match(await on(server, 'GET', 'exmm/shard?file=none.exmm'), { status: 404, json: { error: 'memory_file_not_found' } });
      }
      await until(async () => (await on(two, 'POST', 'exmm/consolidate', { file: 'one.exmm' })).status === 202);
      const rollout = { emm_path: 'one.exmm', series: ['usage.tokens'], horizon: 1 };
      await until(async () => (await on(two, 'POST', 'worldmodel/rollout', rollout)).json?.['error'] !== 'no_world_model');
    },
  );

  await t.test('a node that is killed under load costs the answers that it had begun, and nothing else', async (t) => {
    const ends: string[] = [];
    const endsOf = Array.from({ length: 6 }, () => 0);
    let isStopped = false;
    const client = async (n: number): Promise<void> => {
      for (let i = 0; !isStopped; i++) {
        const isStreamed = i % 2 === 0;
        const response = await chat(front, `client ${n} ${i}`, isStreamed);
        const text = await response.text();
        if (response.status !== 200) ends.push(`${response.status} ${JSON.parse(text).error?.code}`);
        else ends.push(isStreamed ? (readStream(text).end ?? 'cut') : 'done');
        endsOf[n] = (endsOf[n] ?? 0) + 1;
      }
    };
    const clients = endsOf.map((_, n) => client(n));
    await until(async () => ends.length > 12);
    const nBefore = ends.length;
    t.ok(
      ends.every((end) => end === 'done'),
      String(ends),
    );
    await one.stop('SIGKILL');
    const eachEnds = async (nMore: number): Promise<void> => {
      const least = endsOf.map((n) => n + nMore);
      await until(async () => endsOf.every((n, i) => n >= (least[i] ?? 0)));
    };
    // The answers that were open then, and others after them.
    await eachEnds(1);
    const nLast = ends.length;
    await eachEnds(3);
    isStopped = true;
    await Promise.all(clients);
    const after = ends.slice(nBefore);
    // An answer that is not streamed begins again unseen, unless its node had begun to say something.
    t.ok(
      after.every((end) => end === 'done' || end === 'node_lost' || end === '503 node_lost'),
      String(after),
    );
    t.ok(after.filter((end) => end !== 'done').length <= 6, 'at most what each client had open');
    t.ok(
      ends.slice(nLast).every((end) => end === 'done'),
      String(after),
    );
    t.equal((await nodesOf(front))?.length, 1);
  });

  await t.test('without any node that has the model, the client is told so', async (t) => {
    await two.stop('SIGKILL');
    await until(async () => (await nodesOf(front)) === undefined);
    const response = await chat(front, 'anybody?', false);
    t.equal(response.status, 404);
    await response.arrayBuffer();
  });
});

t.test('a machine that joins with a token', { timeout: 240_000 }, async (t) => {
  let head: ChildServer | undefined;
  t.teardown(() => head?.stop());
  const folder = t.testdir();
  const env = async () => ({
    SVC_CLUSTER_LISTEN: `127.0.0.1:${await freePort()}`,
    SVC_CLUSTER_HEARTBEAT_SECONDS: '1',
    SVC_CLUSTER_ENTRY_SECONDS: '3',
    SVC_MODELS_MIRROR: 'http://127.0.0.1:9',
  });
  const ofHead = await env();
  head = await startServer(t, { models: { [embeddingModel]: { arch: 'bert' } }, folder: join(folder, 'head'), env: ofHead });
  const ofMember = {
    models: { [chatModel]: { arch: 'llama' } },
    folder: join(folder, 'member'),
    env: { ...(await env()), SVC_NODE_NAME: 'graphics' },
  } as const;
  const single = await startServer(t, ofMember);
  const { token: root } = await sendJson<{ token: string }>(head.url, '/api/v1/auth/register', account);
  const asRoot = { authorization: `Bearer ${root}` };
  const made = await send(`${head.url}/api/v1/cluster/join-tokens`, { method: 'POST', body: {}, headers: asRoot });
  const before = { ...account, username: 'old' };
  const { token: old } = await sendJson<{ token: string }>(single.url, '/api/v1/auth/register', before);
  const asOld = { authorization: `Bearer ${old}` };
  const pull = (name: string) => ({ method: 'POST', body: { reference: `org/${name}:${name}.gguf` } });
  const early = await send(`${single.url}/api/v1/models/pull`, { ...pull('early'), headers: asOld });
  t.equal(early.status, 202, early.text);
  const joined = await send(`${single.url}/api/v1/cluster/join`, {
    method: 'POST',
    body: { token: made.json?.['token'] },
    headers: asOld,
  });
  t.equal(joined.status, 200);
  await until(async () => !single.running);
  const member = await startServer(t, ofMember);
  const controller = head;
  const ask = (path: string, key: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') =>
    send(`${member.url}${path}`, { method, ...(body !== undefined && { body }), headers: { authorization: `Bearer ${key}` } });
  const makeKey = async () => {
    const { json } = await send(`${controller.url}/api/v1/identity/keys`, {
      method: 'POST',
      body: { name: 'k' },
      headers: asRoot,
    });
    return { id: String(json?.['id']), key: String(json?.['api_key']) };
  };
  const say = (key: string, maxTokens: number) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: chatModel,
      messages: [{ role: 'user', content: 'tell me' }],
      temperature: 0,
      max_tokens: maxTokens,
      ignore_eos: true,
      stream: true,
    }),
  });
  await until(async () => (await ask('/v1/models', root)).text.includes(chatModel));

  await t.test('answers the whole API with the rights of its callers', async (t) => {
    t.match(await ask('/api/v1/auth/whoami', root), { status: 200, text: /"root"/ });
    const { key } = await makeKey();
    const answer = await fetch(`${member.url}/v1/chat/completions`, say(key, 24));
    t.equal(answer.status, 200);
    t.match(answer.headers.get('content-type'), /event-stream/);
    t.equal(answer.headers.get('x-svc-node'), 'graphics');
    t.ok(answer.headers.get('x-request-id'));
    t.match(readStream(await answer.text()), { end: 'done', said: /./ });
    const used = await ask('/api/v1/metering/usage?by=key', root);
    t.match(used.json, { data: [{ requests: 1 }] }, 'it is counted once');
    t.strictSame(used.json, (await send(`${controller.url}/api/v1/metering/usage?by=key`, { headers: asRoot })).json);
    t.match(await ask('/api/v1/cluster/topology', root), { status: 200, json: { nodes: [{}, {}] } });
    t.match(await ask('/api/v1/cluster/topology', key), { status: 200 });
    t.match(await ask('/api/v1/nothing', root), { status: 404 });
    t.match(await ask('/api/v1/identity/keys', root, { name: 1 }), { status: 400, json: { error: 'invalid_request' } });
  });

  await t.test('shows jobs of its controller, which shows those of the member', async (t) => {
    interface Job {
      id: string;
      kind: string;
      state: string;
    }
    const path = '/api/v1/system/jobs';
    // The nodes have jobs of their own beside these.
    const KIND = '?kind=inference.pull';
    const on = (server: ChildServer, rest = '', method = 'GET') =>
      send(`${server.url}${path}${rest}`, { method, headers: asRoot });
    const jobsOf = async (server: ChildServer) => (await on(server, KIND)).json?.['jobs'] as Job[];
    const pulled = await send(`${controller.url}/api/v1/models/pull`, { ...pull('late'), headers: asRoot });
    t.equal(pulled.status, 202, pulled.text);
    const ids = [pulled, early].map(({ json }) => (json as { job: Job } | undefined)?.job.id);
    for (const server of [controller, member]) {
      const jobs = await jobsOf(server);
      t.strictSame(
        jobs.map(({ id }) => id),
        ids,
        'each once, the newest first',
      );
      const first = await on(server, `${KIND}&limit=1`);
      t.match(first.json, { jobs: [{ id: jobs[0]?.id }], next: jobs[0]?.id });
      t.match((await on(server, `${KIND}&limit=1&before=${jobs[0]?.id}`)).json, { jobs: [{ id: jobs[1]?.id }], next: null });
      for (const { id, kind } of jobs) t.match(await on(server, `/${id}`), { status: 200, json: { id, kind } });
      t.match(await on(server, '/0199a3b2-0000-7000-8000-000000000000'), { status: 404, json: { error: 'job_not_found' } });
      t.equal((await on(server, '?limit=0')).status, 400);
      t.equal((await fetch(server.url + path)).status, 401);
    }
    for (const { id } of await jobsOf(controller)) {
      const [here, there] = id === ids[0] ? [member, controller] : [controller, member];
      t.equal((await on(here, `/${id}/cancel`, 'POST')).status, 200);
      const events = await on(there, `/${id}/events`);
      t.match(events, { status: 200, text: /"state":"(cancelled|done|failed)"/ });
    }
  });

  await t.test('lists the accounts that it had, and signs none of them in', async (t) => {
    const path = '/api/v1/identity/local-unknown';
    const { json } = await ask(path, root);
    const { data = [] } = json as { data?: { username: string }[] };
    t.strictSame(
      data.map(({ username }) => username),
      ['old'],
    );
    t.match(await send(controller.url + path, { headers: asRoot }), { status: 200, json: { data: [] } });
    t.equal((await ask('/api/v1/auth/whoami', old)).status, 401);
    t.equal((await ask(path, old)).status, 401);
    t.equal((await send(`${member.url}/api/v1/auth/login`, { method: 'POST', body: before })).status, 401);
  });

  await t.test('svc doctor looks at the cluster from either side', async (t) => {
    for (const [name, { SVC_CLUSTER_LISTEN: listen }] of [
      ['head', ofHead],
      ['member', ofMember.env],
    ] as const) {
      const paths = { SVC_DATA_DIR: join(folder, name, 'data'), SVC_LISTEN: '127.0.0.1:1' };
      const { stdout } = await runCli(['doctor', '--json'], { env: { ...paths, SVC_CLUSTER_LISTEN: listen } });
      const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
      t.match(
        checks.find((check) => check.name === 'cluster'),
        { state: 'ok', finding: /^2 nodes of version/ },
        name,
      );
    }
  });

  await t.test('takes uploads, and gives files back', async (t) => {
    const bytes = Buffer.alloc(3 * 2 ** 20, 'words of a file\n');
    const form = new FormData();
    form.append('purpose', 'assistants');
    form.append('file', new Blob([bytes], { type: 'text/plain' }), 'words.txt');
    const stored = await fetch(`${member.url}/v1/files`, { method: 'POST', headers: asRoot, body: form });
    const { id } = (await stored.json()) as { id: string };
    t.equal(stored.status, 200);
    const read = await fetch(`${member.url}/v1/files/${id}/content`, { headers: asRoot });
    t.ok(Buffer.from(await read.arrayBuffer()).equals(bytes));
    const part = await fetch(`${member.url}/v1/files/${id}/content`, { headers: asRoot, method: 'HEAD' });
    t.equal(part.status, (await fetch(`${controller.url}/v1/files/${id}/content`, { headers: asRoot, method: 'HEAD' })).status);
  });

  await t.test('says of itself what concerns the machine, to callers whom a controller knows', async (t) => {
    t.match(await ask('/api/v1/system/roles', root), { status: 200 });
    t.match(await ask('/api/v1/system/roles', 'sk-nobody'), { status: 401 });
    t.equal((await fetch(`${member.url}/api/v1/system/roles`)).status, 401);
    t.equal((await fetch(`${member.url}/v1/models`)).status, (await fetch(`${controller.url}/v1/models`)).status);
    const { auth } = (await (await fetch(`${member.url}/health`)).json()) as { auth: string };
    t.equal(auth, 'enforce', 'for good');
  });

  await t.test('believes nothing that a client says of where it comes from', async (t) => {
    const facts = {
      address: '127.0.0.1',
      listener: 'internal',
      state: 'off',
      host: '',
      isEncrypted: false,
      requestId: 'r',
    } as const;
    // This process is another node, which believes it.
    const note = writeForwardedFacts({ ...facts, hops: 1 });
    for (const { url } of [member, controller])
      for (const shown of [note, `${note.split('.')[0]}.${'A'.repeat(43)}`]) {
        const headers = { 'x-svc-forwarded-identity': shown, 'x-svc-forwarded-facts': note.split('.')[0] as string };
        t.equal((await fetch(`${url}/api/v1/cluster/topology`, { headers })).status, 401);
      }
    const fromOutside = { ...asRoot, 'x-svc-public-edge': '1' };
    const open = '/api/v1/cloud/backends/public';
    t.equal((await fetch(member.url + open, { headers: { 'x-svc-public-edge': '1' } })).status, 401);
    t.equal((await fetch(member.url + open, { headers: fromOutside })).status, 200);
    t.equal(
      (await fetch(member.url + open)).status,
      401,
      'what is open to the network of a machine is so on the machine that answers',
    );
  });

  await t.test('refuses a key at once that was revoked at the controller, and ends what is open', async (t) => {
    for (let i = 0; i < iterations(10, 1000); i++) {
      const { id, key } = await makeKey();
      t.equal((await ask('/api/v1/auth/whoami', key)).status, 200);
      t.equal((await ask('/api/v1/system/version', key)).status, 200);
      await send(`${controller.url}/api/v1/identity/keys/${id}`, { method: 'DELETE', headers: asRoot });
      t.equal((await ask('/api/v1/auth/whoami', key)).status, 401);
      t.equal((await ask('/api/v1/system/roles', key)).status, 401);
    }
    const { id, key } = await makeKey();
    const open = await fetch(`${member.url}/v1/chat/completions`, say(key, 4000));
    t.equal(open.status, 200);
    await send(`${controller.url}/api/v1/identity/keys/${id}`, { method: 'DELETE', headers: asRoot });
    t.equal(readStream(await open.text()).end, 'invalid_api_key');
  });

  await t.test('without a controller it judges nobody, and creates no account', async (t) => {
    await controller.stop('SIGKILL');
    t.equal((await fetch(`${member.url}/readyz`)).status, 200, 'it waits for its controller');
    t.match(await ask('/v1/models', root), { status: 503, json: { error: { code: 'credential_check_unavailable' } } });
    t.match(await ask('/api/v1/system/roles', root), { status: 503, json: { error: 'credential_check_unavailable' } });
    for (const path of ['login', 'register'])
      t.match(await send(`${member.url}/api/v1/auth/${path}`, { method: 'POST', body: account }), {
        status: 503,
        json: { error: 'account_service_unreachable' },
      });
  });
});
