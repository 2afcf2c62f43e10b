/** kill -9 at any moment loses no response that was acknowledged. SVC_TEST_KILLS sets how many times the server is killed. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import OpenAI from 'openai';
import t from 'tap';
import type { ChildServer } from './child-server.ts';
import { chatModel, startServer } from './server.ts';
import { iterations } from './test-support/iterations.ts';

const nKills = iterations(5, 25, 'SVC_TEST_KILLS');
const LONGEST_LIFE_MS = 400;
/** One life of the server with its start, on a busy machine. */
const LIFE_LIMIT_MS = 20_000;
const request = { model: chatModel, input: 'Name three colours.', max_output_tokens: 24, temperature: 0 };

type Response = OpenAI.Responses.Response;

interface Acknowledged {
  /** Whole answers, as the client got them. */
  complete: Map<string, Response>;
  /** Background responses with the number of the last event that arrived. */
  begun: Map<string, number>;
}

const clientOf = ({ url }: ChildServer) => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });

const countOf = ({ complete, begun }: Acknowledged) => complete.size + begun.size;

/** Each asks until the server is gone, and writes down what it was told. */
const writers: ((client: OpenAI, acknowledged: Acknowledged) => Promise<void>)[] = [
  async (client, { complete }) => {
    const response = await client.responses.create(request);
    complete.set(response.id, response);
  },
  async (client, { complete }) => {
    for await (const event of await client.responses.create({ ...request, stream: true }))
      if (event.type === 'response.completed' || event.type === 'response.incomplete')
        complete.set(event.response.id, event.response);
  },
  async (client, { begun }) => {
    begun.set((await client.responses.create({ ...request, background: true })).id, -1);
  },
  async (client, { begun }) => {
    let id = '';
    for await (const event of await client.responses.create({ ...request, background: true, stream: true })) {
      if (event.type === 'response.created') id = event.response.id;
      begun.set(id, event.sequence_number);
    }
  },
];

async function writeUntilKilled(server: ChildServer, acknowledged: Acknowledged): Promise<void> {
  const client = clientOf(server);
  const ask = async (write: (typeof writers)[number]) => {
    while (server.running) await write(client, acknowledged).catch(() => wait(5));
  };
  const nBefore = countOf(acknowledged);
  const asking = writers.map(ask);
  while (countOf(acknowledged) === nBefore) await wait(5);
  await wait(Math.random() * LONGEST_LIFE_MS);
  await server.stop('SIGKILL');
  await Promise.all(asking);
}

/** Follows a background response to its end, from behind the last event that arrived. */
async function checkResumed(client: OpenAI, id: string, after: number): Promise<string | undefined> {
  const query = after < 0 ? { stream: true as const } : { stream: true as const, starting_after: after };
  let last = after;
  for await (const event of await client.responses.retrieve(id, query)) {
    if (event.sequence_number <= last) return `${id}: event ${event.sequence_number} came behind ${last}`;
    last = event.sequence_number;
  }
  const { status } = await client.responses.retrieve(id);
  return status === 'completed' || status === 'incomplete' ? undefined : `${id}: its stream ended while it was ${status}`;
}

t.setTimeout(60_000 + nKills * LIFE_LIMIT_MS);
t.test(`after ${nKills} kills every acknowledged response is there`, async (t) => {
  const folder = join(t.testdir(), 'node');
  const acknowledged: Acknowledged = { complete: new Map(), begun: new Map() };
  for (let i = 0; i < nKills; i += 1) await writeUntilKilled(await startServer(t, { folder }), acknowledged);

  const client = clientOf(await startServer(t, { folder }));
  const { complete, begun } = acknowledged;
  t.comment(`${complete.size} whole answers and ${begun.size} background responses were acknowledged`);
  t.ok(complete.size > 0 && begun.size > 0, 'something was acknowledged');
  for (const [id, response] of complete) {
    const kept = await client.responses.retrieve(id).catch(String);
    if (typeof kept === 'string' || JSON.stringify(kept.output) !== JSON.stringify(response.output))
      t.fail(`${id} is lost: ${kept}`);
  }
  const problems: (string | undefined)[] = [];
  for (const [id, after] of begun)
    problems.push(await checkResumed(client, id, after).catch((error: unknown) => `${id}: ${error}`));
  t.strictSame(problems.filter(Boolean), []);
});
