/** The unmodified clients of OpenAI and Anthropic run one list against a model of this node and against each kind of provider: the same form everywhere. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import sharp from 'sharp';
import t from 'tap';
import type { KindName } from '../ts/server/domains/cloud/kinds/kind.ts';
import { post } from './http.ts';
import { PROVIDERS } from './providers/dialects.ts';
import { startProvider } from './providers/provider-server.ts';
import { chatModel, startServer } from './server.ts';

t.setTimeout(240_000);

const { url } = await startServer(t, {
  hasProjector: true,
  env: { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1', SVC_INFERENCE_CTX: '4096' },
});
const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 0 });

const messages = [{ role: 'user' as const, content: 'Name a colour.' }];
const shape = { type: 'object', properties: { q: { enum: ['a'] } }, required: ['q'], additionalProperties: false } as const;
const look = { name: 'look', description: 'Looks it up', parameters: shape };
const tools = [{ type: 'function' as const, function: look }];
const png = (
  await sharp({ create: { width: 32, height: 32, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
).toString('base64');
const response_format = { type: 'json_schema' as const, json_schema: { name: 'shape', schema: shape } };

/** Types in the place of values, and of a list the forms that occur in it. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((each) => JSON.stringify(formOf(each))))].sort();
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  const members = Object.entries(value).filter(([name, each]) => each !== undefined && !OWN.has(name));
  return Object.fromEntries(members.map(([name, each]) => [name, formOf(each)]).sort());
}

/** Only an engine of this node can say some of them; thoughts and drafts a model has or has not. */
const OWN = new Set(['timings', 'system_fingerprint', 'reasoning_content', 'reasoning_details', 'completion_tokens_details']);

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
}

const refusal = async (work: Promise<unknown>) => {
  const error = (await work.then(
    () => undefined,
    (failed: unknown) => failed,
  )) as { status?: number; error?: object } | undefined;
  return { status: String(error?.status), error: error?.error };
};

/** The value itself counts where it is a word of the API. */
const LIST: Record<string, (model: string) => Promise<{ form: unknown; words?: unknown }>> = {
  'a whole answer': async (model) => {
    const answer = await openai.chat.completions.create({ model, messages, max_tokens: 8 });
    return { form: answer, words: [answer.object, answer.choices[0]?.message.role] };
  },
  'a stream': async (model) => {
    const more = { stream_options: { include_usage: true }, max_tokens: 8 };
    const chunks = await all(await openai.chat.completions.create({ model, messages, stream: true, ...more }));
    return { form: chunks.filter(({ choices }) => choices[0]?.delta.content !== ''), words: chunks.at(-1)?.choices };
  },
  'a call': async (model) => {
    const answer = await openai.chat.completions.create({ model, messages, tools, tool_choice: 'required', max_tokens: 64 });
    const call = answer.choices[0]?.message.tool_calls?.[0] as OpenAI.ChatCompletionMessageFunctionToolCall | undefined;
    const words = [call?.type, call?.function.name, JSON.parse(call?.function.arguments ?? '0')];
    return { form: call, words };
  },
  'a schema': async (model) => {
    const answer = await openai.chat.completions.create({ model, messages, response_format, max_tokens: 64 });
    return { form: answer.choices[0]?.message, words: JSON.parse(answer.choices[0]?.message.content ?? '0') };
  },
  'an image': async (model) => {
    const image = { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${png}` } };
    const content = [{ type: 'text' as const, text: 'What is it?' }, image];
    return { form: await openai.chat.completions.create({ model, messages: [{ role: 'user', content }], max_tokens: 8 }) };
  },
  'a response': async (model) => {
    const answer = await openai.responses.create({ model, input: 'Name a colour.', store: false, max_output_tokens: 8 });
    return { form: answer.output.filter(({ type }) => type === 'message'), words: answer.object };
  },
  'a message': async (model) => {
    const answer = await anthropic.messages.create({ model, messages, max_tokens: 8 });
    return { form: answer.content.filter(({ type }) => type === 'text'), words: [answer.type, answer.role] };
  },
  'events of a message': async (model) => {
    const events = await all(await anthropic.messages.create({ model, messages, max_tokens: 8, stream: true }));
    return { form: events[0], words: [...new Set(events.map(({ type }) => type))] };
  },
  'a refused member': async (model) => {
    const { status, error } = await refusal(openai.chat.completions.create({ model, messages, temperature: 9 }));
    return { form: error, words: status };
  },
  'an empty list of messages': async (model) => {
    const { status, error } = await refusal(anthropic.messages.create({ model, messages: [], max_tokens: 8 }));
    return { form: error, words: status };
  },
};

/** The documented refusals. */
const REFUSED: Partial<Record<KindName, Record<string, string>>> = {
  bedrock: { 'a schema': 'response_format' },
  ollama: { 'a call': 'tool_choice' },
};

const local = new Map<string, unknown>();
for (const [name, run] of Object.entries(LIST)) {
  const { form, words } = await run(chatModel);
  local.set(name, { form: formOf(form), words });
}

for (const [kind, { dialect, path, more }] of Object.entries(PROVIDERS)) {
  t.test(kind, async (t) => {
    const provider = await startProvider(t, dialect);
    const model = `${kind}-model`;
    provider.models = [model];
    const body = { id: kind, kind, base_url: provider.origin + path, ...more, model_filter: { include: [model] } };
    t.equal((await post(`${url}/api/v1/cloud/backends`, body)).status, 201);
    const tokens = { prompt: 12, cached: 0, written: 0, completion: 3, reasoning: 0 };
    for (const [name, run] of Object.entries(LIST)) {
      const isCall = name === 'a call';
      const calls = [{ id: 'call_1', name: 'look', arguments: '{"q":"a"}' }];
      provider.say = () =>
        isCall
          ? { texts: [], calls, finish: 'tool_calls', tokens }
          : { texts: name === 'a schema' ? ['{"q"', ':"a"}'] : ['Red', '.'], finish: 'length', tokens };
      const member = REFUSED[kind as KindName]?.[name];
      if (member !== undefined) {
        t.match(await refusal(run(model)), { status: '400', error: { code: 'unsupported_by_backend', param: member } }, name);
        continue;
      }
      const { form, words } = await run(model);
      t.strictSame({ form: formOf(form), words }, local.get(name), name);
    }
  });
}
