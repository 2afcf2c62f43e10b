/**
 * Requests of our APIs with any members, through each kind of provider: a member is in what is sent, in the place and the form that the
 * provider's reference names, or the request is refused by its name. None is dropped in silence.
 */
import fc from 'fast-check';
import t from 'tap';
import { type ChatCall, readChatCall } from '../ts/server/domains/cloud/kinds/chat-call.ts';
import {
  type KindName,
  type KindOptions,
  PRESETS,
  type Preset,
  UnsupportedMember,
} from '../ts/server/domains/cloud/kinds/kind.ts';
import { KINDS } from '../ts/server/domains/cloud/kinds.ts';
import { readMessagesRequest } from '../ts/server/domains/completions/compat/anthropic/request.ts';
import { readChatRequest } from '../ts/server/domains/completions/compat/openai-chat/request.ts';
import type { CompletionRequest } from '../ts/server/domains/inference/index.ts';
import { iterations } from './test-support/iterations.ts';

t.setTimeout(300_000);

// biome-ignore lint/suspicious/noExplicitAny: bodies of six providers
type Body = any;

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } };
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const functionTool = (more: object = {}) => ({
  type: 'function',
  function: { name: 'look', description: 'Looks it up', parameters: schema, ...more },
});

/** A member of a chat: the body's part that asks for it, the name that a refusal has, and how each kind that has a word for it says it. */
interface Member {
  readonly asks: object;
  readonly name: string;
  readonly said: Partial<Record<KindName | Preset, (body: Body) => unknown>>;
  readonly as: unknown;
}

const everyOpenAi = (read: (body: Body) => unknown) => ({
  openai: read,
  azure: read,
  openrouter: read,
  vllm: read,
  sglang: read,
  'llama-server': read,
  svc: read,
});
const llamas = (read: (body: Body) => unknown) => ({ 'llama-server': read, svc: read });
const engines = (read: (body: Body) => unknown) => ({ ...llamas(read), vllm: read, sglang: read });
const option = (name: string) => (body: Body) => body.options[name];
const generation = (name: string) => (body: Body) => body.generationConfig[name];

const sampler = (name: string, value: unknown, said: Member['said']): Member => ({
  asks: { [name]: value },
  name,
  said,
  as: value,
});

const MEMBERS: Record<string, Member> = {
  temperature: sampler('temperature', 0.25, {
    ...everyOpenAi((b) => b.temperature),
    anthropic: (b) => b.temperature,
    gemini: generation('temperature'),
    bedrock: (b) => b.inferenceConfig.temperature,
    ollama: option('temperature'),
  }),
  top_p: sampler('top_p', 0.75, {
    ...everyOpenAi((b) => b.top_p),
    anthropic: (b) => b.top_p,
    gemini: generation('topP'),
    bedrock: (b) => b.inferenceConfig.topP,
    ollama: option('top_p'),
  }),
  top_k: sampler('top_k', 7, {
    ...engines((b) => b.top_k),
    openrouter: (b) => b.top_k,
    anthropic: (b) => b.top_k,
    gemini: generation('topK'),
    ollama: option('top_k'),
  }),
  min_p: sampler('min_p', 0.125, { ...engines((b) => b.min_p), openrouter: (b) => b.min_p, ollama: option('min_p') }),
  seed: sampler('seed', 11, { ...everyOpenAi((b) => b.seed), gemini: generation('seed'), ollama: option('seed') }),
  frequency_penalty: sampler('frequency_penalty', 0.5, {
    ...everyOpenAi((b) => b.frequency_penalty),
    gemini: generation('frequencyPenalty'),
    ollama: option('frequency_penalty'),
  }),
  presence_penalty: sampler('presence_penalty', 0.5, {
    ...everyOpenAi((b) => b.presence_penalty),
    gemini: generation('presencePenalty'),
    ollama: option('presence_penalty'),
  }),
  repeat_penalty: sampler('repeat_penalty', 1.25, {
    ...llamas((b) => b.repeat_penalty),
    vllm: (b) => b.repetition_penalty,
    sglang: (b) => b.repetition_penalty,
    openrouter: (b) => b.repetition_penalty,
    ollama: option('repeat_penalty'),
  }),
  typical_p: sampler(
    'typical_p',
    0.5,
    llamas((b) => b.typical_p),
  ),
  xtc_probability: sampler(
    'xtc_probability',
    0.5,
    llamas((b) => b.xtc_probability),
  ),
  mirostat: sampler(
    'mirostat',
    2,
    llamas((b) => b.mirostat),
  ),
  adaptive_target: sampler(
    'adaptive_target',
    0.5,
    llamas((b) => b.adaptive_target),
  ),
  max_tokens: {
    asks: { max_tokens: 3000 },
    name: 'max_tokens',
    as: 3000,
    said: {
      ...everyOpenAi((b) => b.max_tokens ?? b.max_completion_tokens),
      anthropic: (b) => b.max_tokens,
      gemini: generation('maxOutputTokens'),
      bedrock: (b) => b.inferenceConfig.maxTokens,
      ollama: option('num_predict'),
    },
  },
  stop: {
    asks: { stop: ['END'] },
    name: 'stop',
    as: ['END'],
    said: {
      ...everyOpenAi((b) => b.stop),
      anthropic: (b) => b.stop_sequences,
      gemini: generation('stopSequences'),
      bedrock: (b) => b.inferenceConfig.stopSequences,
      ollama: option('stop'),
    },
  },
  n: { asks: { n: 3 }, name: 'n', as: 3, said: { ...everyOpenAi((b) => b.n), gemini: generation('candidateCount') } },
  logprobs: {
    asks: { logprobs: true, top_logprobs: 4 },
    name: 'logprobs',
    as: [true, 4],
    said: everyOpenAi((b) => [b.logprobs, b.top_logprobs]),
  },
  logit_bias: { asks: { logit_bias: { 7: -5 } }, name: 'logit_bias', as: { 7: -5 }, said: everyOpenAi((b) => b.logit_bias) },
  grammar: { asks: { grammar: 'root ::= "a"' }, name: 'grammar', as: 'root ::= "a"', said: llamas((b) => b.grammar) },
  response_format: {
    asks: {
      response_format: { type: 'json_schema', json_schema: { name: 'shape', description: 'Of an answer', schema, strict: true } },
    },
    name: 'response_format',
    as: { description: 'Of an answer', ...schema },
    said: {
      ...everyOpenAi(({ response_format: { json_schema: one } }) =>
        one.name === 'shape' && one.strict === true ? { description: one.description, ...one.schema } : one,
      ),
      anthropic: (b) => b.output_config.format.schema,
      gemini: generation('responseJsonSchema'),
      ollama: (b) => b.format,
    },
  },
  reasoning_effort: {
    asks: { reasoning_effort: 'low' },
    name: 'reasoning_effort',
    as: 'low',
    said: {
      ...everyOpenAi((b) => b.reasoning_effort),
      anthropic: (b) => (b.thinking.budget_tokens === 2048 ? 'low' : undefined),
      gemini: (b) => (b.generationConfig.thinkingConfig.thinkingBudget === 2048 ? 'low' : undefined),
      ollama: (b) => b.think,
    },
  },
  chat_template_kwargs: {
    asks: { chat_template_kwargs: { flavour: 'x' } },
    name: 'chat_template_kwargs',
    as: 'x',
    said: engines((b) => b.chat_template_kwargs.flavour),
  },
  cache_prompt: { asks: { cache_prompt: false }, name: 'cache_prompt', as: false, said: llamas((b) => b.cache_prompt) },
  service_tier: {
    asks: { service_tier: 'flex' },
    name: 'service_tier',
    as: 'flex',
    said: {
      openai: (b) => b.service_tier,
      azure: (b) => b.service_tier,
      openrouter: (b) => b.service_tier,
      svc: (b) => b.service_tier,
    },
  },
  drafts: {
    asks: { 'speculative.n_max': 3, 'speculative.type': 'none' },
    name: 'speculative.n_max',
    as: [3, 'none'],
    said: llamas((b) => [b['speculative.n_max'], b['speculative.type']]),
  },
  tools: {
    asks: { tools: [functionTool()] },
    name: 'tools',
    as: ['look', 'Looks it up', schema],
    said: {
      ...everyOpenAi(({ tools: [{ function: one }] }) => [one.name, one.description, one.parameters]),
      anthropic: ({ tools: [one] }) => [one.name, one.description, one.input_schema],
      gemini: ({
        tools: [
          {
            functionDeclarations: [one],
          },
        ],
      }) => [one.name, one.description, one.parametersJsonSchema],
      bedrock: ({
        toolConfig: {
          tools: [{ toolSpec: one }],
        },
      }) => [one.name, one.description, one.inputSchema.json],
      ollama: ({ tools: [{ function: one }] }) => [one.name, one.description, one.parameters],
    },
  },
  'tools.function.strict': {
    asks: { tools: [functionTool({ strict: true })] },
    name: 'tools.function.strict',
    as: true,
    said: {
      ...everyOpenAi((b) => b.tools[0].function.strict),
      anthropic: (b) => b.tools[0].strict,
      gemini: (b) => ['VALIDATED', 'ANY', 'NONE'].includes(b.toolConfig.functionCallingConfig.mode),
    },
  },
  'tool_choice required': {
    asks: { tools: [functionTool()], tool_choice: 'required' },
    name: 'tool_choice',
    as: 'required',
    said: {
      ...everyOpenAi((b) => b.tool_choice),
      anthropic: (b) => (b.tool_choice.type === 'any' ? 'required' : undefined),
      gemini: (b) => (b.toolConfig.functionCallingConfig.mode === 'ANY' ? 'required' : undefined),
      bedrock: (b) => (b.toolConfig.toolChoice.any ? 'required' : undefined),
    },
  },
  'tool_choice none': {
    asks: { tools: [functionTool()], tool_choice: 'none' },
    name: 'tool_choice',
    as: 'none',
    said: {
      ...everyOpenAi((b) => b.tool_choice),
      anthropic: (b) => b.tool_choice.type,
      gemini: (b) => (b.toolConfig.functionCallingConfig.mode === 'NONE' ? 'none' : undefined),
      ollama: (b) => (b.tools === undefined ? 'none' : undefined),
    },
  },
  parallel_tool_calls: {
    asks: { tools: [functionTool()], parallel_tool_calls: false },
    name: 'parallel_tool_calls',
    as: false,
    said: {
      ...everyOpenAi((b) => b.parallel_tool_calls),
      anthropic: (b) => (b.tool_choice.type === 'none' ? false : !b.tool_choice.disable_parallel_tool_use),
    },
  },
  image: {
    asks: { messages: [{ role: 'user', content: [{ type: 'text', text: 'See' }, image] }] },
    name: 'messages',
    as: true,
    said: {
      ...everyOpenAi((b) => b.messages.at(-1).content[1].image_url.url.endsWith(png)),
      anthropic: (b) => b.messages.at(-1).content[1].source.data === png,
      gemini: (b) => b.contents.at(-1).parts[1].inlineData.data === png,
      bedrock: (b) => b.messages.at(-1).content[1].image.source.bytes === png,
      ollama: (b) => b.messages.at(-1).images[0] === png,
    },
  },
  'image.detail': {
    asks: { messages: [{ role: 'user', content: [{ ...image, image_url: { ...image.image_url, detail: 'low' } }] }] },
    name: 'messages.image_url.detail',
    as: 'low',
    said: everyOpenAi((b) => b.messages.at(-1).content[0].image_url.detail),
  },
  'messages.name': {
    asks: { messages: [{ role: 'user', name: 'ann', content: 'Hi' }] },
    name: 'messages.name',
    as: 'ann',
    said: everyOpenAi((b) => b.messages.at(-1).name),
  },
  'mark of a part': {
    asks: {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }] }],
    },
    name: 'cache_control',
    as: '1h',
    said: {
      ...engines((b) => b.messages.at(-1).content[0].cache_control.ttl),
      openrouter: (b) => b.messages.at(-1).content[0].cache_control.ttl,
      anthropic: (b) => b.messages.at(-1).content[0].cache_control.ttl,
      bedrock: (b) => b.messages.at(-1).content[1].cachePoint.ttl,
    },
  },
  'mark of a message': {
    asks: { messages: [{ role: 'user', content: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
    name: 'cache_control',
    as: '1h',
    said: {
      ...engines((b) => b.messages.at(-1).content[0].cache_control.ttl),
      openrouter: (b) => b.messages.at(-1).content[0].cache_control.ttl,
      anthropic: (b) => b.messages.at(-1).content[0].cache_control.ttl,
      bedrock: (b) => b.messages.at(-1).content[1].cachePoint.ttl,
    },
  },
  'mark of a tool': {
    asks: { tools: [{ ...functionTool(), cache_control: { type: 'ephemeral', ttl: '1h' } }] },
    name: 'cache_control',
    as: '1h',
    said: {
      ...engines((b) => b.tools[0].cache_control.ttl),
      openrouter: (b) => b.tools[0].cache_control.ttl,
      anthropic: (b) => b.tools[0].cache_control.ttl,
      bedrock: (b) => b.toolConfig.tools[1].cachePoint.ttl,
    },
  },
};

/** The kinds are told, and of OpenAI's each preset. */
const TOLD: [name: KindName | Preset, kind: KindName, options: KindOptions][] = [
  ...PRESETS.map((preset) => [preset, 'openai', { preset, apiVersion: '', region: '' }] as [Preset, KindName, KindOptions]),
  ...(['azure', 'anthropic', 'gemini', 'bedrock', 'ollama'] as const).map(
    (kind) =>
      [kind, kind, { preset: 'openai', apiVersion: '2024-10-21', region: 'eu-central-1' }] as [KindName, KindName, KindOptions],
  ),
];

function send(request: CompletionRequest, kind: KindName, options: KindOptions): Body | UnsupportedMember {
  const call: ChatCall = { ...readChatCall(request), model: 'a-model' };
  try {
    return JSON.parse(KINDS[kind].chat(call, options).body ?? '');
  } catch (error) {
    if (error instanceof UnsupportedMember) return error;
    throw error;
  }
}

/** The same place is asked for once: a later member's tools or messages take the place of an earlier one's. */
const bodyOf = (names: readonly string[]): object =>
  Object.assign({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }, ...names.map((name) => MEMBERS[name]?.asks));
const isAsked = (body: object, { asks }: Member): boolean =>
  Object.entries(asks).every(([name, value]) => (body as Record<string, unknown>)[name] === value);

for (const [who, kind, options] of TOLD) {
  t.test(`${who}: each member alone is kept, or refused by its name`, async (t) => {
    for (const [title, { asks, name, said, as }] of Object.entries(MEMBERS)) {
      const { request } = readChatRequest({ ...bodyOf([]), ...asks } as never);
      const sent = send(request, kind, options);
      if (sent instanceof UnsupportedMember) {
        t.equal(sent.member, name, `${title} is refused by its name`);
        t.notOk(said[who], `${title} can be said`);
      } else t.strictSame(said[who]?.(sent), as, `${title} in ${JSON.stringify(sent)}`);
    }
  });

  t.test(`${who}: any members together are kept, or one of them is refused`, async (t) => {
    // A grammar and a schema are refused together, whoever answers.
    const names = fc
      .subarray(Object.keys(MEMBERS), { minLength: 2, maxLength: 6 })
      .filter((chosen) => !(chosen.includes('grammar') && chosen.includes('response_format')));
    fc.assert(
      fc.property(names, (chosen) => {
        const body = bodyOf(chosen);
        const members = chosen.map((name) => MEMBERS[name] as Member);
        const { request } = readChatRequest(body as never);
        const sent = send(request, kind, options);
        if (sent instanceof UnsupportedMember)
          return members.some(({ name, said }) => name === sent.member && said[who] === undefined);
        const asked = members.filter((member) => isAsked(body, member));
        return asked.every(({ said, as }) => JSON.stringify(said[who]?.(sent)) === JSON.stringify(as));
      }),
      { numRuns: iterations(200, 5_000) },
    );
    t.pass();
  });
}

t.test('marks of Anthropic’s clients are kept wherever they stand, or refused', async (t) => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const text = (words: string) => ({ type: 'text', text: words });
  const places: Record<string, (marked: object) => object> = {
    system: (marked) => ({ system: [{ ...text('Rules'), ...marked }] }),
    tool: (marked) => ({ tools: [{ name: 'look', input_schema: schema, ...marked }] }),
    user: (marked) => ({ messages: [{ role: 'user', content: [{ ...text('Hi'), ...marked }] }] }),
    all: (marked) => ({ ...marked }),
    assistant: (marked) => ({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ ...text('Yes'), ...marked }] },
        { role: 'user', content: 'Go' },
      ],
    }),
    call: (marked) => ({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {}, ...marked }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] },
      ],
    }),
    result: (marked) => ({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok', ...marked }] },
      ],
    }),
  };
  for (const [place, make] of Object.entries(places)) {
    const plain = readMessagesRequest({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hi' }],
      ...make({}),
    } as never);
    const marked = readMessagesRequest({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hi' }],
      ...make(mark),
    } as never);
    for (const [who, kind, options] of TOLD) {
      t.notOk(send(plain, kind, options) instanceof UnsupportedMember, `${who} takes ${place} without a mark`);
      const sent = send(marked, kind, options);
      if (['openai', 'azure', 'gemini', 'ollama'].includes(who)) t.match(sent, { member: 'cache_control' }, `${place} at ${who}`);
      else t.equal(JSON.stringify(sent).match(/"(?:cache_control|cachePoint)"/g)?.length, 1, `${place} at ${who}`);
    }
  }
});

t.test('a budget of thoughts is kept as the client says it, or refused', async (t) => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const thinking = { type: 'enabled', budget_tokens: 3000 };
  const request = readMessagesRequest({ model: 'm', max_tokens: 9000, messages, thinking } as never);
  const said: Partial<Record<KindName | Preset, (body: Body) => unknown>> = {
    openrouter: (b) => b.reasoning.max_tokens,
    anthropic: (b) => b.thinking.budget_tokens,
    gemini: (b) => b.generationConfig.thinkingConfig.thinkingBudget,
  };
  for (const [who, kind, options] of TOLD) {
    const sent = send(request, kind, options);
    if (said[who] === undefined) t.match(sent, { member: 'thinking.budget_tokens' }, who);
    else t.equal(said[who](sent), 3000, who);
  }
});
