/** kill -9 at any moment: what is metered is never behind what clients received. SVC_TEST_KILLS sets how many times the server is killed. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { PostgresCluster } from '../ts/server/platform/storage/test-support/postgres-cluster.ts';
import type { ChildServer } from './child-server.ts';
import { chatModel, startServer } from './server.ts';
import { iterations } from './test-support/iterations.ts';
import { random } from './test-support/seed.ts';

const nKills = iterations(3, 10, 'SVC_TEST_KILLS');
const LONGEST_LIFE_MS = 600;
/** One life of the server with its start, on a busy machine. */
const LIFE_LIMIT_MS = 20_000;
/** What one request can be counted ahead: a step of completion tokens, and an estimate of its prompt. */
const MOST_AHEAD = 1024;

interface Received {
  requests: number;
  promptTokens: number;
  completionTokens: number;
}

const messages = [{ role: 'user' as const, content: 'Tell me something about lighthouses and the sea.' }];
const base = { model: chatModel, messages };

const clientOf = ({ url }: ChildServer) => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });

/** Of a stream that breaks off, a token for each piece of text; of a whole one, its usage. */
async function stream(client: OpenAI, received: Received, more: object): Promise<void> {
  let nPieces = 0;
  let usage: OpenAI.CompletionUsage | undefined;
  try {
    const chunks = await client.chat.completions.create({
      ...base,
      ...more,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of chunks) {
      if (chunk.choices[0]?.delta.content) nPieces += 1;
      usage = chunk.usage ?? usage;
    }
  } finally {
    if (nPieces > 0 || usage !== undefined) received.requests += 1;
    received.completionTokens += usage?.completion_tokens ?? nPieces;
    received.promptTokens += usage?.prompt_tokens ?? 0;
  }
}

async function wholeAnswer(client: OpenAI, received: Received): Promise<void> {
  const { usage } = await client.chat.completions.create({ ...base, max_tokens: 8 });
  received.requests += 1;
  received.completionTokens += usage?.completion_tokens ?? 0;
  received.promptTokens += usage?.prompt_tokens ?? 0;
}

const callers: ((client: OpenAI, received: Received) => Promise<void>)[] = [
  (client, received) => stream(client, received, { max_tokens: 24 }),
  (client, received) => stream(client, received, { max_tokens: 300 }),
  (client, received) => stream(client, received, {}),
  wholeAnswer,
];

async function callUntilKilled(server: ChildServer, received: Received): Promise<number> {
  const client = clientOf(server);
  let nAsked = 0;
  const before = received.requests;
  const calling = callers.map(async (call) => {
    while (server.running) {
      nAsked += 1;
      await call(client, received).catch(() => wait(5));
    }
  });
  while (received.requests === before) await wait(5);
  await wait(random.next() * LONGEST_LIFE_MS);
  await server.stop('SIGKILL');
  await Promise.all(calling);
  return nAsked;
}

t.setTimeout(120_000 + 2 * nKills * LIFE_LIMIT_MS);

async function checkKills(t: Test, env: NodeJS.ProcessEnv): Promise<void> {
  const folder = join(t.testdir(), 'node');
  const received: Received = { requests: 0, promptTokens: 0, completionTokens: 0 };
  for (let i = 0; i < nKills; i += 1) await callUntilKilled(await startServer(t, { folder, env }), received);
  const { url } = await startServer(t, { folder, env });
  const answer = await fetch(`${url}/api/v1/metering/usage?by=model`);
  const { data } = (await answer.json()) as { data: { requests: number; prompt_tokens: number; completion_tokens: number }[] };
  const [metered] = data;
  if (metered === undefined) throw new Error('nothing was metered');
  const ahead = metered.completion_tokens - received.completionTokens;
  t.comment(`${received.requests} requests and ${received.completionTokens} tokens were received; ${ahead} more are metered`);
  t.ok(metered.requests >= received.requests, `${metered.requests} requests of ${received.requests}`);
  t.ok(metered.prompt_tokens >= received.promptTokens, `${metered.prompt_tokens} prompt tokens of ${received.promptTokens}`);
  t.ok(ahead >= 0, `${metered.completion_tokens} completion tokens of ${received.completionTokens}`);
  t.ok(ahead <= nKills * callers.length * MOST_AHEAD, 'and it is not far ahead');
}

t.test(`after ${nKills} kills no token that a client received is missing`, (t) => checkKills(t, {}));

const missing = PostgresCluster.missing();
const options = missing === undefined ? {} : { skip: missing };
t.test(`nor on PostgreSQL, after ${nKills} kills`, options, async (t) => {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  await checkKills(t, { SVC_DATABASE_URL: await cluster.newDatabase() });
});
