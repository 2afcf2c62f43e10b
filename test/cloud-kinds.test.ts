/** Every kind of provider behind our API: the same list of requests, and the same answers. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import t from 'tap';
import { rivalProgram } from '../bench/contenders/rival-program.ts';
import { randomModel } from '../models/random/fixture.ts';
import { ChildServer, freePort } from './child-server.ts';
import { post, send, sendJson } from './http.ts';
import { anthropicDialect } from './providers/anthropic.ts';
import { bedrockDialect } from './providers/bedrock.ts';
import { geminiDialect } from './providers/gemini.ts';
import { ollamaDialect } from './providers/ollama.ts';
import { openAiDialect } from './providers/openai.ts';
import { type Dialect, type ProviderServer, startProvider } from './providers/provider-server.ts';
import { startServer } from './server.ts';

t.setTimeout(240_000);

interface KindCase {
  dialect: Dialect;
  /** Of the registration. */
  more?: object;
  path?: string;
  /** Members that the provider has no way to be told. */
  refused: object[];
  /** Thoughts come back with their signature. */
  signs?: boolean;
  hasNoKey?: boolean;
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const grammar = { grammar: 'root ::= "a"' };

const KINDS: Record<string, KindCase> = {
  openai: { dialect: openAiDialect, path: '/v1', refused: [grammar, { min_p: 0.1 }] },
  azure: { dialect: openAiDialect, more: { api_version: '2024-10-21' }, refused: [grammar] },
  anthropic: { dialect: anthropicDialect, signs: true, refused: [grammar, { n: 2 }, { logprobs: true }, { seed: 1 }] },
  gemini: { dialect: geminiDialect, signs: true, refused: [grammar, { logprobs: true }] },
  bedrock: { dialect: bedrockDialect, more: { region: 'eu-central-1' }, signs: true, refused: [grammar, { n: 2 }, { seed: 1 }] },
  ollama: { dialect: ollamaDialect, refused: [grammar, { n: 2 }, { logprobs: true }], hasNoKey: true },
};

const { url } = await startServer(t, { models: {}, env: { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1' } });
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
const messagesClient = new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 0 });
const tokens = { prompt: 20, cached: 5, written: 0, completion: 9, reasoning: 0 };
const tools = ['look', 'stop'].map((name) => ({
  type: 'function' as const,
  function: { name, description: 'd', parameters: { type: 'object', properties: { q: { type: 'number' } } } },
}));

async function register(kind: string, provider: ProviderServer, { more, path = '', hasNoKey }: KindCase): Promise<void> {
  const key = hasNoKey ? {} : { key: kind === 'bedrock' ? 'AKIDEXAMPLE:secret-planted-abc' : 'planted-key-abcdef' };
  const timeouts = { first_byte_ms: 5000, idle_ms: 5000 };
  const body = {
    id: kind,
    kind,
    base_url: provider.origin + path,
    ...key,
    ...more,
    timeouts,
    model_filter: { include: [`${kind}-model`] },
  };
  const made = await post(`${url}/api/v1/cloud/backends`, body);
  if (made.status !== 201) throw new Error(made.text);
}

for (const [kind, kindCase] of Object.entries(KINDS)) {
  t.test(kind, async (t) => {
    const provider = await startProvider(t, kindCase.dialect);
    const model = `${kind}-model`;
    provider.models = [model];
    await register(kind, provider, kindCase);
    const stream = async (more: object = {}) => {
      const chunks: OpenAI.ChatCompletionChunk[] = [];
      const asked = {
        model,
        messages: [{ role: 'user', content: 'Hi' }],
        stream: true,
        stream_options: { include_usage: true },
        ...more,
      };
      for await (const chunk of await client.chat.completions.create(asked as OpenAI.ChatCompletionCreateParamsStreaming))
        chunks.push(chunk);
      return chunks;
    };

    await t.test('a stream, with its text, its end and its usage', async (t) => {
      provider.say = () => ({ reasoning: 'Hm.', texts: ['Grüße', ' "an"', ' alle 🙂\n'], tokens });
      const chunks = await stream({ max_tokens: 30, temperature: 0.5, top_p: 0.9, stop: ['END'] });
      const deltas = chunks.flatMap(({ choices }) =>
        choices.map(({ delta }) => delta as { content?: string; reasoning_content?: string }),
      );
      t.equal(deltas.map(({ content = '' }) => content).join(''), 'Grüße "an" alle 🙂\n');
      t.equal(deltas.map(({ reasoning_content: text = '' }) => text).join(''), 'Hm.');
      t.equal(chunks.findLast(({ choices }) => choices.length > 0)?.choices[0]?.finish_reason, 'stop');
      t.match(chunks.at(-1)?.usage, { prompt_tokens: 20, completion_tokens: 9 });
      const sent = JSON.stringify(provider.chats.at(-1)?.body);
      for (const value of ['Hi', 'END', '30', '0.5', '0.9']) t.ok(sent.includes(value), `${value} in ${sent}`);
    });

    await t.test('calls in parallel, one of them without arguments, and their results', async (t) => {
      const calls = [
        { id: 'call_0', name: 'look', arguments: '{"q":1}' },
        { id: 'call_1', name: 'stop', arguments: '' },
      ];
      provider.say = () => ({ texts: ['Wait.'], calls, finish: 'tool_calls', tokens });
      const whole = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Go' }], tools });
      t.equal(whole.choices[0]?.finish_reason, 'tool_calls');
      const made = whole.choices[0]?.message.tool_calls as { id: string; function: { name: string; arguments: string } }[];
      t.strictSame(
        made.map(({ function: target }) => [target.name, JSON.parse(target.arguments)]),
        [
          ['look', { q: 1 }],
          ['stop', {}],
        ],
      );
      provider.say = () => ({ texts: ['Done.'], tokens });
      const results = made.map(({ id }, i) => ({ role: 'tool' as const, tool_call_id: id, content: `result ${i}` }));
      const history = [
        { role: 'user' as const, content: 'Go' },
        whole.choices[0]?.message as OpenAI.ChatCompletionMessageParam,
        ...results,
      ];
      const next = await client.chat.completions.create({ model, messages: history, tools });
      t.equal(next.choices[0]?.message.content, 'Done.');
      const sent = JSON.stringify(provider.chats.at(-1)?.body);
      for (const value of ['look', 'stop', 'result 0', 'result 1']) t.ok(sent.includes(value), value);
    });

    await t.test('an image arrives as it was sent', async (t) => {
      const content = [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
      ];
      await stream({ messages: [{ role: 'user', content }] });
      t.ok(JSON.stringify(provider.chats.at(-1)?.body).includes(png));
    });

    await t.test('a JSON schema arrives as the client wrote it, and not in the words of our engine', async (t) => {
      provider.say = () => ({ texts: ['{"a":"b"}'], tokens });
      const schema = {
        type: 'object',
        properties: { a: { allOf: [{ type: 'string' }, { minLength: 1 }] } },
        required: ['a'],
        patternProperties: { '^x': { type: 'integer' } },
      };
      const messages = [{ role: 'user', content: 'Hi' }];
      const chat = { messages, response_format: { type: 'json_schema', json_schema: { name: 'shape', schema, strict: true } } };
      // Each is strict by itself, and no keyword of them is this node's matter.
      const responses = { input: 'Hi', text: { format: { type: 'json_schema', name: 'shape', schema } } };
      const format = { type: 'json_schema', schema };
      for (const [path, body] of [
        ['/v1/chat/completions', chat],
        ['/v1/responses', responses],
        ['/v1/messages', { messages, max_tokens: 20, output_config: { format } }],
      ] as const) {
        const answer = await post(url + path, { model, ...body });
        if (kind === 'bedrock') {
          t.equal(answer.status, 400, path);
          continue;
        }
        t.equal(answer.status, 200, answer.text);
        t.equal(answer.headers.get('x-svc-schema-ignored'), null, path);
        t.ok(JSON.stringify(provider.chats.at(-1)?.body).includes(JSON.stringify(schema)), path);
      }
    });

    await t.test('signed thoughts come back untouched in the next turn', { skip: !kindCase.signs }, async (t) => {
      const calls = [{ id: 'call_0', name: 'look', arguments: '{"q":1}' }];
      provider.say = () => ({
        reasoning: 'Let me see.',
        signature: 'c2lnbmVk',
        texts: ['Yes.'],
        calls,
        finish: 'tool_calls',
        tokens,
      });
      const first = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Go' }], tools });
      const message = first.choices[0]?.message as OpenAI.ChatCompletionMessage;
      t.match(message, { reasoning_details: [{ signature: 'c2lnbmVk' }] });
      const id = message.tool_calls?.[0]?.id ?? '';
      const history = [
        { role: 'user' as const, content: 'Go' },
        message,
        { role: 'tool' as const, tool_call_id: id, content: 'ok' },
      ];
      await client.chat.completions.create({ model, messages: history, tools });
      t.ok(JSON.stringify(provider.chats.at(-1)?.body).includes('c2lnbmVk'));
    });

    await t.test('Anthropic’s client gets the same answer', async (t) => {
      provider.say = () => ({ texts: ['Hello', '.'], tokens });
      const answer = await messagesClient.messages.create({ model, max_tokens: 20, messages: [{ role: 'user', content: 'Hi' }] });
      t.match(answer, { stop_reason: 'end_turn', content: [{ type: 'text', text: 'Hello.' }] });
      t.match(answer.usage, { output_tokens: 9 });
    });

    await t.test('what cannot be said is refused by its name, and nothing is sent', async (t) => {
      const nAsked = provider.chats.length;
      for (const member of kindCase.refused) {
        const answer = await post(`${url}/v1/chat/completions`, {
          model,
          messages: [{ role: 'user', content: 'Hi' }],
          ...member,
        });
        t.match(answer, { status: 400, json: { error: { code: 'unsupported_by_backend' } } }, answer.text);
      }
      t.equal(provider.chats.length, nAsked);
    });

    await t.test('faults of the provider mean the same for every kind', async (t) => {
      const ask = () => post(`${url}/v1/chat/completions`, { model, messages: [{ role: 'user', content: 'Hi' }], stream: true });
      provider.say = () => ({ texts: ['one', ' two', ' three'], tokens });
      for (const fault of ['refuse', 'error-frame', { status: 503 }, { status: 529 }] as const) {
        provider.script = [fault];
        const { status, text } = await ask();
        t.equal(status, 200, JSON.stringify(fault));
        t.match(text, /one.* two.* three.*\[DONE\]/s);
      }
      for (const fault of ['cut', 'no-end', 'late-error'] as const) {
        provider.script = [fault];
        const { text } = await ask();
        t.match(text, /provider_stream_cut/, fault);
        t.notMatch(text, /\[DONE\]|"finish_reason":"stop"/, fault);
      }
      provider.script = [{ status: 400, message: 'No such thing' }];
      const refused = await ask();
      t.match(refused, { status: 400, json: { error: { code: 'provider_refused' } } });
      t.match(refused.text, /No such thing/);
    });

    await t.test('the key goes in a field, and never in an address', async (t) => {
      t.ok(provider.asked.length > 5);
      for (const { path } of provider.asked) t.notMatch(path, /planted|secret/);
      if (!kindCase.hasNoKey)
        t.ok(provider.chats.every(({ headers }) => /planted|Credential=AKIDEXAMPLE/.test(JSON.stringify(headers))));
    });
    await send(`${url}/api/v1/cloud/backends/${kind}`, { method: 'DELETE' });
  });
}

t.test('marks of the prompt cache reach the providers that know them', async (t) => {
  const mark = { cache_control: { type: 'ephemeral' } };
  for (const [kind, sign] of [
    ['anthropic', /cache_control/],
    ['bedrock', /cachePoint/],
  ] as const) {
    const kindCase = KINDS[kind] as KindCase;
    const provider = await startProvider(t, kindCase.dialect);
    await register(kind, provider, kindCase);
    const system = [{ type: 'text' as const, text: 'Long rules', ...mark }] as Anthropic.TextBlockParam[];
    const content = [{ type: 'text' as const, text: 'Hi', ...mark }] as Anthropic.TextBlockParam[];
    const tool = { name: 'look', input_schema: { type: 'object' as const }, ...mark } as Anthropic.Tool;
    await messagesClient.messages.create({
      model: `${kind}-model`,
      max_tokens: 9,
      system,
      tools: [tool],
      messages: [{ role: 'user', content }],
    });
    const sent = JSON.stringify(provider.chats.at(-1)?.body);
    t.equal(sent.match(new RegExp(sign, 'g'))?.length, 3, sent);
    await send(`${url}/api/v1/cloud/backends/${kind}`, { method: 'DELETE' });
  }
});

t.test('another svc is a provider', async (t) => {
  const provider = await startProvider(t, openAiDialect);
  provider.say = () => ({ texts: ['far', ' away'], tokens });
  const second = await startServer(t, {
    models: {},
    folder: t.testdir(),
    env: { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1' },
  });
  const far = {
    id: 'far',
    kind: 'openai',
    preset: 'vllm',
    base_url: `${provider.origin}/v1`,
    model_filter: { include: ['far-model'] },
  };
  t.equal((await post(`${second.url}/api/v1/cloud/backends`, far)).status, 201);
  const near = {
    id: 'near',
    kind: 'openai',
    preset: 'svc',
    base_url: `${second.url}/v1`,
    model_filter: { alias: { mine: 'far-model' } },
  };
  t.equal((await post(`${url}/api/v1/cloud/backends`, near)).status, 201);
  const answer = await sendJson(url, '/v1/chat/completions', {
    model: 'mine',
    messages: [{ role: 'user', content: 'Hi' }],
    min_p: 0.1,
  });
  t.match(answer, { model: 'far-model', choices: [{ message: { content: 'far away' } }], usage: { prompt_tokens: 20 } });
});

/** The reason why it is not there, as the bench says it. */
function llamaServerProgram(): { program: string } | { reason: string } {
  try {
    return { program: rivalProgram('llama-server') };
  } catch (error) {
    return { reason: (error as Error).message };
  }
}

const found = llamaServerProgram();

t.test('llama-server is a provider', { skip: 'reason' in found && found.reason }, async (t) => {
  if ('reason' in found) return;
  const port = await freePort();
  const flags = ['--model', await randomModel({ arch: 'llama' }), '--alias', 'theirs', '--ctx-size', '2048', '--jinja'];
  const server = await ChildServer.start({
    program: found.program,
    args: [...flags, '--host', '127.0.0.1', '--port', String(port)],
    url: `http://127.0.0.1:${port}`,
    readyPath: '/health',
  });
  t.teardown(() => server.stop());
  const body = { id: 'llama', kind: 'openai', preset: 'llama-server', base_url: `${server.url}/v1` };
  t.equal((await post(`${url}/api/v1/cloud/backends`, { ...body, model_filter: { include: ['theirs'] } })).status, 201);
  const messages = [{ role: 'user', content: 'Hi' }];
  const more = { max_tokens: 8, grammar: 'root ::= [a-z]+', min_p: 0.1, top_k: 20 };
  const whole = await sendJson<OpenAI.ChatCompletion>(url, '/v1/chat/completions', { model: 'theirs', messages, ...more });
  t.match(whole.choices[0]?.message.content, /^[a-z]+$/);
  t.match(whole.usage, { completion_tokens: 8 });
  const streamed = await post(`${url}/v1/chat/completions`, { model: 'theirs', messages, max_tokens: 8, stream: true });
  t.match(streamed.text, /"finish_reason":"length"[\s\S]*\[DONE\]/);
});
