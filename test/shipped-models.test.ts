/** The models that this repository ships, as a user meets them after the first start. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cosine } from '../models/eval/ranking.ts';
import { post, send } from './http.ts';
import { startServer } from './server.ts';

const shipped = join(import.meta.dirname, '..', 'models');
/** A folder of data that nobody has used before: what ships is found without it. */
const server = await startServer(t, { models: {}, env: { SVC_MODELS_SHIPPED: 'true' } });

async function embed(input: string[]): Promise<Float32Array[]> {
  const { status, json } = await post(`${server.url}/v1/embeddings`, { model: 'svc-embed-tiny', input });
  t.equal(status, 200);
  const { data } = json as unknown as { data: { embedding: number[] }[] };
  return data.map(({ embedding }) => Float32Array.from(embedding));
}

interface Said {
  content: string;
  tool_calls?: { function: { name: string; arguments: string } }[];
}

async function chat(body: object): Promise<Said> {
  const { status, json } = await post(`${server.url}/v1/chat/completions`, { model: 'svc-chat-tiny', max_tokens: 200, ...body });
  t.equal(status, 200);
  return (json as unknown as { choices: [{ message: Said }] }).choices[0].message;
}

async function say(content: string, system?: string): Promise<string> {
  const before = system === undefined ? [] : [{ role: 'system', content: system }];
  return (await chat({ messages: [...before, { role: 'user', content }] })).content;
}

t.test('they say of themselves that they are demonstrations, and svc-chat-tiny is the default', async (t) => {
  const { json } = await send(`${server.url}/v1/models`);
  const { data } = json as { data: { id: string; state: string; note: string }[] };
  t.strictSame(data.map(({ id }) => id).sort(), ['svc-chat-tiny', 'svc-embed-tiny']);
  for (const { note } of data) t.match(note, /demonstration model.*svc models pull/i);
  t.equal(data.find(({ id }) => id === 'svc-chat-tiny')?.state, 'loaded');
});

t.test('all of them together are small enough for a repository', async (t) => {
  const files = readdirSync(shipped, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.gguf'));
  t.ok(files.length >= 2);
  const sizes = files.map((name) => statSync(join(shipped, name)).size);
  t.ok(sizes.reduce((sum, size) => sum + size, 0) <= 25e6, String(sizes));
});

t.test('svc-chat-tiny greets in the language that it is greeted in', async (t) => {
  t.match(await say('Hello!'), /^Hello! I am svc-chat-tiny/);
  t.match(await say('Guten Morgen!'), /^Hallo! Ich bin svc-chat-tiny/);
});

const passages = `[1] Quorlen is a lighthouse near Tervik. The height of Quorlen is 48 m. Its keeper is Dr. Malvin Osk.

[2] The Bramble Bridge was opened in 1874 by Ferna Dool. Its length is 212 m.`;

t.test('svc-chat-tiny answers from passages and cites the one that says so, or says that none does', async (t) => {
  const system = 'Answer the question from the passages and cite them as [1], [2]. If they do not tell, say so.';
  const ask = (question: string) => say(`${passages}\n\nQuestion: ${question}`, system);
  t.match(await ask('What is the height of Quorlen?'), /48 m \[1\]\.$/);
  t.match(await ask('What is the length of the Bramble Bridge?'), /212 m \[2\]\.$/);
  t.match(await ask('What is the price of Zentor?'), /not in the passages/);
});

t.test('a stop string that stands in the arguments of a call does not cut the call', async (t) => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const asked = {
    messages: [{ role: 'user', content: 'What is the weather in Karvo?' }],
    tools: [{ type: 'function', function: { name: 'get_weather', description: 'Gets the weather.', parameters } }],
    stop: ['Karvo'],
  };
  const whole = { function: { name: 'get_weather', arguments: /^\{"city": ?"Karvo"\}$/ } };
  t.match(await chat(asked), { tool_calls: [whole] });
  t.match(await chat({ ...asked, tool_choice: 'required' }), { tool_calls: [whole] });
  for (const max_tokens of [6, 10, 14]) {
    const { tool_calls: calls = [] } = await chat({ ...asked, tool_choice: 'required', max_tokens });
    for (const call of calls) t.match(call, whole, `at most ${max_tokens} tokens`);
  }
});

t.test('svc-chat-tiny calls the tool that fits, and fills JSON as a schema asks', async (t) => {
  const tool = (name: string, description: string, properties: object) => ({
    type: 'function',
    function: { name, description, parameters: { type: 'object', properties, required: Object.keys(properties) } },
  });
  const tools = [
    tool('get_weather', 'Gets the weather.', { city: { type: 'string', description: 'The city' } }),
    tool('send_email', 'Sends an email.', { recipient: { type: 'string' } }),
  ];
  const { tool_calls: calls } = await chat({ messages: [{ role: 'user', content: 'What is the weather in Paris?' }], tools });
  t.match(calls, [{ function: { name: 'get_weather', arguments: /^\{"city": ?"Paris"\}$/ } }]);
  const schema = {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name', 'age'],
  };
  const { content } = await chat({
    messages: [{ role: 'user', content: 'Extract name and age as JSON.\n\nname: Tom Okafor, age: 34.' }],
    response_format: { type: 'json_schema', json_schema: { name: 'person', schema } },
  });
  t.strictSame(JSON.parse(content), { name: 'Tom Okafor', age: 34 });
});

t.test('a question is nearest to the passage that answers it, in English and in German', async (t) => {
  const passages = [
    'The lighthouse of Quorlen was finished in 1874; its keeper lived on the island with two goats.',
    'Der Leuchtturm von Quorlen wurde 1874 fertig; sein Wärter lebte mit zwei Ziegen auf der Insel.',
    'Vaccines train the immune system, so that it recognises a virus when it comes.',
    'Der Zug nach Bremen fährt wegen einer Baustelle vierzig Minuten später ab.',
  ];
  const questions = ['When was the Quorlen lighthouse completed?', 'Wie viele Ziegen hatte der Leuchtturmwärter von Quorlen?'];
  const vectors = await embed([...questions, ...passages]);
  for (const [i, question] of questions.entries()) {
    const own = vectors[i] ?? new Float32Array();
    const scores = vectors.slice(questions.length).map((vector) => cosine(own, vector));
    t.equal(scores.indexOf(Math.max(...scores)), i, `${question} ${scores}`);
  }
});

t.test('a word is nearer to its misspelling, its plural, its compound and its translation than to another word', async (t) => {
  const [word, other, ...forms] = await embed([
    'government',
    'violin',
    'goverment',
    'governments',
    'government-building',
    'Regierung',
  ]);
  const likeness = (to: Float32Array | undefined) => cosine(word ?? new Float32Array(), to ?? new Float32Array());
  for (const form of forms) t.ok(likeness(form) > likeness(other), `${likeness(form)} ${likeness(other)}`);
});
