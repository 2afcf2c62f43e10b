/**
 * Requests made from the clients' own types, each member in each of its forms, one at a time and in pairs: what the table of members says
 * happens. And answers have every member that these types require.
 */
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { Compile } from 'typebox/compile';
import { ClientTypes, type TypeName } from '../scripts/check/client-types.ts';
import { bodyReaders } from '../ts/server/domains/completions/body-readers.ts';
import type { SchemaNode } from '../ts/server/platform/schema/accepted.ts';
import { memberEffects } from '../ts/server/platform/schema/member-effect.ts';
import { type HttpAnswer, post, send } from './http.ts';
import { chatModel, embeddingModel, stockServer } from './server.ts';
import { samplesOf } from './test-support/client-samples.ts';
import { iterations } from './test-support/iterations.ts';

t.setTimeout(600_000);

const chat: TypeName = ['openai', 'chat/completions/completions', 'ChatCompletionCreateParamsNonStreaming'];
const responses: TypeName = ['openai', 'responses/responses', 'ResponseCreateParamsNonStreaming'];
const messages: TypeName = ['@anthropic-ai/sdk', 'beta/messages/messages', 'MessageCreateParamsNonStreaming'];
const counted: TypeName = ['@anthropic-ai/sdk', 'beta/messages/messages', 'MessageCountTokensParams'];
const embeddings: TypeName = ['openai', 'embeddings', 'EmbeddingCreateParams'];

const turn = [{ role: 'user', content: 'Name three colours.' }];
/** The headers of a client are no members of its body. */
const inHeaders = new Set(['betas', 'user_profile_id', 'workspace_id']);

const apis = [
  { name: 'chat', path: '/v1/chat/completions', type: chat, base: { model: chatModel, messages: turn, max_tokens: 2 } },
  {
    name: 'responses',
    path: '/v1/responses',
    type: responses,
    base: { model: chatModel, input: 'Hello', max_output_tokens: 2, store: false },
  },
  { name: 'messages', path: '/v1/messages', type: messages, base: { model: chatModel, messages: turn, max_tokens: 2 } },
  { name: 'countTokens', path: '/v1/messages/count_tokens', type: counted, base: { model: chatModel, messages: turn } },
  { name: 'embeddings', path: '/v1/embeddings', type: embeddings, base: { model: embeddingModel, input: 'Hello' } },
] as const;

const answers: TypeName[] = [
  ['openai', 'chat/completions/completions', 'ChatCompletion'],
  ['openai', 'chat/completions/completions', 'ChatCompletionChunk'],
  ['openai', 'responses/responses', 'Response'],
  ['openai', 'responses/responses', 'ResponseStreamEvent'],
  ['openai', 'embeddings', 'CreateEmbeddingResponse'],
  ['openai', 'models', 'Model'],
  ['openai', 'files', 'FileObject'],
  ['openai', 'vector-stores/vector-stores', 'VectorStore'],
  ['openai', 'vector-stores/files', 'VectorStoreFile'],
  ['openai', 'vector-stores/file-batches', 'VectorStoreFileBatch'],
  ['@anthropic-ai/sdk', 'messages/messages', 'Message'],
  ['@anthropic-ai/sdk', 'messages/messages', 'RawMessageStreamEvent'],
  ['@anthropic-ai/sdk', 'models', 'ModelInfo'],
];

const types = new ClientTypes(process.cwd(), [...apis.map(({ type }) => type), ...answers]);
const server = await stockServer(t);

interface Sample {
  member: string;
  value: unknown;
}

/** Of a member's samples those that say most come last; many tools are of one kind. */
const MOST_SAMPLES = 60;

function samples(type: TypeName): Sample[] {
  return types
    .members(types.get(type))
    .filter(({ name }) => !inHeaders.has(name))
    .flatMap(({ name, type: of }) => {
      const texts = new Set(samplesOf(types, of, 1).map((value) => JSON.stringify(value)));
      return [...texts].slice(0, MOST_SAMPLES).map((text) => ({ member: name, value: JSON.parse(text) as unknown }));
    });
}

/** Names of the members that the request sets and the table refuses with these values. */
function refusedMembers(schema: SchemaNode, body: object): string[] {
  return memberEffects(schema)
    .filter(({ effect, name, node }) => effect === 'refused' && isRefused(node, valueAt(body, name)))
    .map(({ name }) => name);
}

function isRefused(node: SchemaNode, value: unknown): boolean {
  return value !== undefined && !Compile(node as never).Check(value);
}

function valueAt(body: object, name: string): unknown {
  return name.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], body);
}

function paramOf({ json }: HttpAnswer): string {
  const error = json?.['error'] as { param?: string | null; message?: string } | undefined;
  // Anthropic's shape has no param: the sentence names the member.
  return error?.param ?? /[a-z_]{3,}[\w.[\]]*/.exec(error?.message?.replaceAll('`', '') ?? '')?.[0] ?? '';
}

const topOf = (name: string) => name.replace(/[.[].*$/, '');

/** Refusals that name another member than the one that was set, since it needs that one or goes not with it. */
const partners: Readonly<Record<string, readonly string[]>> = {
  tool_choice: ['tools', 'tool_choice'],
  top_logprobs: ['logprobs', 'top_logprobs'],
  background: ['store', 'background'],
  output_format: ['output_config', 'output_format'],
};

for (const { name, path, type, base } of apis) {
  const schema = bodyReaders[name].schema as unknown as SchemaNode;
  const all = samples(type);

  const judge = (t: Test, set: readonly Sample[], answer: HttpAnswer): void => {
    const body = { ...base, ...Object.fromEntries(set.map(({ member, value }) => [member, value])) };
    const shown = JSON.stringify(set).slice(0, 300);
    const refused = refusedMembers(schema, body);
    const param = paramOf(answer);
    const isStream = answer.text.startsWith('event:') || answer.text.startsWith('data:');
    if (answer.status === 200) {
      if (refused.length > 0) t.fail(`${shown} is answered, though the table refuses ${refused}`);
      if (isStream && /"error":\{/.test(answer.text)) t.fail(`${shown} fails in its stream: ${answer.text.slice(0, 300)}`);
      return;
    }
    const mayName = set.flatMap(({ member }) => [member, ...(partners[member] ?? [])]);
    // The vector stores of a sample are not there.
    const isNamed = mayName.includes(topOf(param)) || (mayName.includes('tools') && answer.text.includes('namespace_not_found'));
    if (!(answer.status === 400 || answer.status === 404 || answer.status === 422) || !isNamed)
      t.fail(`${shown} is answered ${answer.status}: ${answer.text.slice(0, 300)}`);
    const isUnsupported = /"code":"unsupported_member"/.test(answer.text);
    if (isUnsupported && !refused.some((each) => topOf(each) === topOf(param)))
      t.fail(`${shown}: ${param} is refused, and the table takes it`);
    const ignored = memberEffects(schema)
      .filter(({ effect }) => effect === 'ignored')
      .map((each) => each.name);
    if (ignored.includes(param)) t.fail(`${shown}: ${param} is refused, and the table ignores it`);
  };

  t.test(`${path}: each member in each form has an effect or is refused by its name`, async (t) => {
    t.ok(all.length > 3, `${all.length} requests`);
    for (const sample of all) judge(t, [sample], await post(server.url + path, { ...base, [sample.member]: sample.value }));
  });

  t.test(`${path}: members in pairs are refused as each by itself, or have their effects`, async (t) => {
    const pair = fc.tuple(fc.constantFrom(...all), fc.constantFrom(...all)).filter(([a, b]) => a.member !== b.member);
    const pairs = fc.sample(pair, iterations(60, 2_000));
    for (const set of pairs) {
      const [a, b] = set;
      judge(t, set, await post(server.url + path, { ...base, [a.member]: a.value, [b.member]: b.value }));
    }
  });
}

t.test('an ignored member changes no answer', async (t) => {
  for (const { name, path, type, base } of apis) {
    const request = { ...base, temperature: 0, seed: 1 };
    const answerOf = async (more: object) =>
      JSON.stringify(textsOf((await post(server.url + path, { ...request, ...more })).json));
    const plain = await answerOf({});
    const effects = memberEffects(bodyReaders[name].schema as unknown as SchemaNode);
    const ignored = new Set(effects.filter(({ effect }) => effect === 'ignored').map((each) => each.name));
    for (const { member, value } of samples(type))
      if (ignored.has(member)) t.equal(await answerOf({ [member]: value }), plain, `${name}: ${member}`);
  }
});

/** What an answer says, without ids and times. */
function textsOf(json: Record<string, unknown> | undefined): unknown {
  const { choices, output, content, data, input_tokens } = json ?? {};
  const withoutIds = (value: unknown) =>
    JSON.parse(JSON.stringify(value ?? null, (key, each) => (key === 'id' ? undefined : each)));
  return withoutIds(choices ?? output ?? content ?? data ?? input_tokens);
}

const typeOf = (name: string) => types.get(answers.find((each) => each[2] === name) as TypeName);

function conforms(t: Test, name: string, value: unknown): void {
  t.strictSame(types.faults(value, typeOf(name)), [], `${name}: ${JSON.stringify(value)?.slice(0, 200)}`);
}

function events(text: string): unknown[] {
  const data = text.split('\n').filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]');
  return data.map((line) => JSON.parse(line.slice('data: '.length)));
}

const tool = { name: 'set_light', parameters: { type: 'object', properties: { lamp: { enum: ['hall'] } }, required: ['lamp'] } };

t.test('answers have the members that the types of the clients require', async (t) => {
  const [ofChat, ofResponses, ofMessages, , ofEmbeddings] = apis;
  const ask = async (path: string, body: object) => (await post(server.url + path, body)).json;
  const stream = async (path: string, body: object) => events((await post(server.url + path, { ...body, stream: true })).text);

  const calling = { max_tokens: 100, tools: [{ type: 'function', function: tool }], tool_choice: 'required' };
  for (const more of [{}, { n: 2, logprobs: true, top_logprobs: 2 }, calling]) {
    const body = { ...ofChat.base, ...more };
    conforms(t, 'ChatCompletion', await ask(ofChat.path, body));
    for (const chunk of await stream(ofChat.path, { ...body, stream_options: { include_usage: true } }))
      conforms(t, 'ChatCompletionChunk', chunk);
  }

  const flat = { max_output_tokens: 100, tools: [{ type: 'function', strict: true, ...tool }], tool_choice: 'required' };
  for (const more of [{}, { include: ['message.output_text.logprobs'], top_logprobs: 2 }, flat]) {
    const body = { ...ofResponses.base, ...more };
    conforms(t, 'Response', { ...(await ask(ofResponses.path, body)), output_text: '' });
    for (const event of await stream(ofResponses.path, body)) conforms(t, 'ResponseStreamEvent', withOutputText(event));
  }

  const { parameters: input_schema, ...rest } = tool;
  for (const more of [{}, { max_tokens: 100, tools: [{ ...rest, input_schema }], tool_choice: { type: 'any' } }]) {
    const body = { ...ofMessages.base, ...more };
    conforms(t, 'Message', await ask(ofMessages.path, body));
    for (const event of await stream(ofMessages.path, body))
      if ((event as { type: string }).type !== 'ping') conforms(t, 'RawMessageStreamEvent', event);
  }

  conforms(t, 'CreateEmbeddingResponse', await ask(ofEmbeddings.path, ofEmbeddings.base));
  const list = async (headers: Record<string, string>) =>
    (await send(`${server.url}/v1/models`, { headers })).json?.['data'] as unknown[];
  for (const model of await list({})) conforms(t, 'Model', model);
  for (const model of await list({ 'anthropic-version': '2023-06-01' })) conforms(t, 'ModelInfo', model);
});

/** The client itself puts this member into a response. */
function withOutputText(event: unknown): unknown {
  const { response, ...rest } = event as { response?: object };
  return response === undefined ? rest : { ...rest, response: { ...response, output_text: '' } };
}

t.test('files and vector stores have the members that the types of the clients require', async (t) => {
  const form = new FormData();
  form.set('purpose', 'assistants');
  form.set('file', new Blob(['The lighthouse of Karvo was built in the year 1893 by fishermen.']), 'town.txt');
  const file = (await (await fetch(`${server.url}/v1/files`, { method: 'POST', body: form })).json()) as { id: string };
  conforms(t, 'FileObject', file);
  const store = (await post(`${server.url}/v1/vector_stores`, { name: 'members of clients' })).json as { id: string };
  conforms(t, 'VectorStore', store);
  const at = `${server.url}/v1/vector_stores/${store.id}`;
  conforms(t, 'VectorStoreFile', (await post(`${at}/files`, { file_id: file.id })).json);
  conforms(t, 'VectorStoreFileBatch', (await post(`${at}/file_batches`, { file_ids: [file.id] })).json);
  for (const path of [`/v1/vector_stores/${store.id}`, `/v1/files/${file.id}`])
    await send(server.url + path, { method: 'DELETE' });
});
