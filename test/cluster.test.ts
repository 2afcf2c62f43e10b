/** Whole programs on one PostgreSQL: a node answers with the models of others, and the loss of one of them costs a retry. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { PostgresCluster } from '../ts/server/platform/storage/test-support/postgres-cluster.ts';
import type { ChildServer } from './child-server.ts';
import { freePort } from './child-server.ts';
import { chatModel, embeddingModel, startServer } from './server.ts';

async function startNode(t: Test, databaseUrl: string, folder: string, models: Record<string, { arch: 'llama' | 'bert' }>) {
  const listen = `127.0.0.1:${await freePort()}`;
  const env = {
    SVC_DATABASE_URL: databaseUrl,
    SVC_CLUSTER_LISTEN: listen,
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
  const front = await startNode(t, url, join(folder, 'front'), { [embeddingModel]: { arch: 'bert' } });
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

  await t.test('a node that is killed under load costs the answers that it had begun, and nothing else', async (t) => {
    const ends: string[] = [];
    let isStopped = false;
    const client = async (name: string): Promise<void> => {
      for (let i = 0; !isStopped; i++) {
        const isStreamed = i % 2 === 0;
        const response = await chat(front, `${name} ${i}`, isStreamed);
        const text = await response.text();
        if (response.status !== 200) ends.push(`${response.status} ${JSON.parse(text).error?.code}`);
        else ends.push(isStreamed ? (readStream(text).end ?? 'cut') : 'done');
      }
    };
    const clients = Array.from({ length: 6 }, (_, i) => client(`client ${i}`));
    await until(async () => ends.length > 12);
    const nBefore = ends.length;
    t.ok(
      ends.every((end) => end === 'done'),
      String(ends),
    );
    await one.stop('SIGKILL');
    await until(async () => ends.length > nBefore + 24);
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
      after.slice(-12).every((end) => end === 'done'),
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
  });
  head = await startServer(t, { models: { [embeddingModel]: { arch: 'bert' } }, folder: join(folder, 'head'), env: await env() });
  const ofMember = { models: { [chatModel]: { arch: 'llama' } }, folder: join(folder, 'member'), env: await env() } as const;
  const single = await startServer(t, ofMember);
  const post = (server: ChildServer, path: string, body: unknown) =>
    fetch(`${server.url}/api/v1/cluster/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const made = (await (await post(head, 'join-tokens', {})).json()) as { token: string };
  t.equal((await post(single, 'join', made)).status, 200);
  await until(async () => !single.running);
  const member = await startServer(t, ofMember);
  const controller = head;
  await until(async () => (await nodesOf(controller))?.length === 1);
  const answer = await chat(controller, 'tell me', true);
  t.ok(answer.headers.get('x-svc-node'));
  t.match(readStream(await answer.text()), { end: 'done', said: /./ });
  t.equal((await fetch(`${member.url}/readyz`)).status, 200);
  const { auth } = (await (await fetch(`${member.url}/health`)).json()) as { auth: string };
  t.equal(auth, 'enforce', 'for good');
  t.equal((await post(member, 'join-tokens', {})).status, 401);
  const stranger = await fetch(`${member.url}/v1/models`, { headers: { authorization: 'Bearer sk-anything' } });
  t.match(await stranger.json(), { error: { code: 'ask_a_controller' } });
  t.equal(stranger.status, 421);
  await controller.stop('SIGKILL');
  t.equal((await fetch(`${member.url}/readyz`)).status, 200, 'it waits for its controller');
});
