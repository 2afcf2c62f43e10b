/** Bodies that are right, and the ways in which they go wrong. */
import type { SeededRandom } from '../../models/random/seeded-random.ts';
import { chatModel, embeddingModel, rerankModel } from '../server.ts';

export type Body = Record<string, unknown>;

const messages = [{ role: 'user', content: 'Tell me something short.' }];
const tool = { type: 'function', function: { name: 'read_clock', parameters: { type: 'object', properties: {} } } };

/** Path and a body that it accepts. */
export function rightRequest(random: SeededRandom): [path: string, body: Body] {
  const max = 1 + random.integer(12);
  return random.pick<[string, Body]>([
    ['/v1/chat/completions', { model: chatModel, messages, max_tokens: max }],
    [
      '/v1/chat/completions',
      { model: chatModel, messages, max_tokens: max, stream: true, stream_options: { include_usage: true } },
    ],
    [
      '/v1/chat/completions',
      { model: chatModel, messages, max_tokens: max, n: 1 + random.integer(3), logprobs: true, top_logprobs: 2 },
    ],
    ['/v1/chat/completions', { model: chatModel, messages, max_tokens: 60, tools: [tool], tool_choice: 'required' }],
    ['/v1/chat/completions', { model: 'unknown', messages, max_tokens: max, stop: ['e'], seed: random.integer(9) }],
    ['/v1/chat/completions', { model: chatModel, messages, max_tokens: 40, response_format: { type: 'json_object' } }],
    ['/v1/responses', { model: chatModel, input: 'Hello', max_output_tokens: max }],
    ['/v1/messages', { model: chatModel, max_tokens: max, messages }],
    ['/v1/messages/count_tokens', { model: chatModel, messages }],
    ['/v1/embeddings', { model: embeddingModel, input: ['one', 'two words'] }],
    ['/v1/rerank', { model: rerankModel, query: 'colour', documents: ['red', 'seven'] }],
    ['/tokenize', { model: chatModel, content: 'some text' }],
    ['/detokenize', { model: chatModel, tokens: [1, 2, 3] }],
  ]);
}

/** Values that a sloppy or hostile client sends; `RAW` marks text that JSON.stringify cannot write. */
const strange: readonly [unknown, ...unknown[]] = [
  null,
  true,
  '',
  'x'.repeat(5_000),
  '\u0000\ud800',
  -1,
  0.5,
  1e308,
  'RAW:9007199254740993',
  -2_147_483_649,
  [],
  {},
  [[[[[[[[]]]]]]]],
  { type: 'nonsense' },
  'RAW:NaN',
  'RAW:Infinity',
  'RAW:1e999',
  'RAW:00012',
];

/** One member replaced, removed or added. */
export function spoiled(random: SeededRandom, body: Body): string {
  const keys = Object.keys(body) as [string, ...string[]];
  const extras = [
    'temperature',
    'top_k',
    'seed',
    'n',
    'stop',
    'tools',
    'grammar',
    'logit_bias',
    'response_format',
    'dimensions',
  ] as const;
  const key = random.chance(0.5) ? random.pick(keys) : random.pick<string>(extras as unknown as [string, ...string[]]);
  const changed: Body = { ...body, [key]: random.pick(strange) };
  if (random.chance(0.1)) delete changed[random.pick(keys)];
  return JSON.stringify(changed).replace(/"RAW:([^"]*)"/g, '$1');
}

/** Text that is no JSON object, or JSON that a parser chokes on. */
export function broken(random: SeededRandom, body: Body): string {
  const text = JSON.stringify(body);
  return random.pick([
    text.slice(0, random.integer(text.length)),
    `${text}}`,
    '',
    '[]',
    'null',
    '"text"',
    '\ufeff{}',
    '['.repeat(50_000),
    `{"a":${'{"a":'.repeat(2_000)}1${'}'.repeat(2_001)}`,
    String.fromCharCode(random.integer(65_536)).repeat(40),
    `{"model":"${'m'.repeat(200_000)}"}`,
  ]);
}
