/** How much of what the kernels can do arrives at the clients. */
import type { ClosedLoad } from '../../load/load.ts';
import type { Goal, Trial } from '../../trial.ts';

const chats = (clients: number): ClosedLoad => ({
  kind: 'closed',
  clients,
  requestsPerClient: 1,
  ownWords: 24,
  maxTokens: 192,
});
const short = { maxTokens: 128 };
const parity = (phase: string): Goal => ({
  figure: `${phase}.tokensPerSecond`,
  unit: 'tok/s',
  against: 'rival',
  atLeast: 0.98,
});

export const streams: Trial = {
  name: 'streams',
  summary:
    '1, 4 and 32 streamed chats at once: completion tokens a second, beside the rival and beside the kernels without a server',
  rival: 'llama-server',
  ceiling: 'llama-batched-bench',
  server: { nParallel: 32, nCtx: 32_768 },
  // The rival decodes quickly in slots that lie side by side, and those of a used server do not.
  fresh: 'round',
  // The fewer the streams, the longer: a second is too short for a machine whose speed varies.
  phases: {
    one: { ...chats(1), ...short, requestsPerClient: 6 },
    four: { ...chats(4), ...short, requestsPerClient: 2 },
    many: { ...chats(32), ...short },
  },
  goals: [
    parity('one'),
    parity('four'),
    parity('many'),
    { figure: 'many.tokensPerSecond', unit: 'tok/s', against: 'ceiling', atLeast: 0.8 },
    { figure: 'many.itlP99Ms', unit: 'ms', against: 'rival', atMost: 1.02 },
    { figure: 'many.serverCpuSeconds', unit: 's', against: 'rival', atMost: 1.02 },
  ],
};

const eight = { ...chats(8), maxTokens: 128 };

export const contention: Trial = {
  name: 'contention',
  summary:
    '8 streams while another program burns a core: two of the three busy threads are ours, and with two cores they keep two thirds of the pace',
  rival: 'llama-server',
  server: { nParallel: 8, nCtx: 8_192 },
  phases: { alone: eight, contended: { ...eight, burners: 1 } },
  goals: [
    // The scheduler shares by thread; 0.75 is the most, if the burner never leaves one core.
    { figure: 'contended.tokensPerSecond', unit: 'tok/s', against: { baseline: 'alone.tokensPerSecond' }, atLeast: 0.66 },
    { figure: 'contended.tokensPerSecond', unit: 'tok/s', against: 'rival', atLeast: 0.98 },
  ],
};

const plain = { ...chats(32), maxTokens: 48 };
const rowSchema = {
  type: 'array',
  minItems: 60,
  items: {
    type: 'object',
    properties: { name: { type: 'string', maxLength: 24 }, count: { type: 'integer' }, isOpen: { type: 'boolean' } },
    required: ['name', 'count', 'isOpen'],
    additionalProperties: false,
  },
};

/** The same rows as a grammar: llama-server answers schemas with an error when the chat template's own tokens are not the model's. */
const rowGrammar = [
  'root ::= "[" row ("," row){59} "]"',
  'row ::= "{" "\\"name\\":" string "," "\\"count\\":" integer "," "\\"isOpen\\":" boolean "}"',
  'string ::= "\\"" [^"\\\\\\x00-\\x1f]{0,24} "\\""',
  'integer ::= "-"? ("0" | [1-9] [0-9]{0,15})',
  'boolean ::= "true" | "false"',
].join('\n');

export const structured: Trial = {
  name: 'structured',
  summary: '32 streams under a JSON schema, and 32 with the log probabilities of 5 alternatives, against 32 plain ones',
  rival: 'llama-server',
  server: { nParallel: 32, nCtx: 32_768 },
  phases: {
    plain,
    schema: {
      ...plain,
      body: { response_format: { type: 'json_schema', json_schema: { name: 'rows', strict: true, schema: rowSchema } } },
      // Only its own ratio comes from this, and it takes a while.
      forRival: { body: { grammar: rowGrammar }, maxTokens: 32 },
    },
    grammar: { ...plain, body: { grammar: rowGrammar }, forRival: { maxTokens: 32 } },
    logprobs: { ...plain, body: { logprobs: true, top_logprobs: 5 } },
  },
  goals: [
    { figure: 'schema.tokensPerSecond', unit: 'tok/s', against: { baseline: 'plain.tokensPerSecond' }, atLeast: 0.85 },
    { figure: 'logprobs.tokensPerSecond', unit: 'tok/s', against: { baseline: 'plain.tokensPerSecond' }, atLeast: 0.9 },
    { figure: 'grammar.tokensPerSecond', unit: 'tok/s', against: 'rival', atLeast: 0.98 },
    { figure: 'logprobs.tokensPerSecond', unit: 'tok/s', against: 'rival', atLeast: 0.98 },
  ],
};

/** Greedy answers of so few words that what comes next stood there before: always if there is one, half of the time if there are two. */
const among = (words: readonly number[], clients: number, more = {}): ClosedLoad => ({
  ...chats(clients),
  body: { temperature: 0, logit_bias: Object.fromEntries(words.map((token) => [token, 100])), ...more },
});
const one = [310];
const two = [310, 320];
const undrafted = { 'speculative.n_max': 0 };
const gain = (phase: string, atLeast: number): Goal => ({
  figure: `${phase}.tokensPerSecond`,
  unit: 'tok/s',
  against: { baseline: `${phase}Plain.tokensPerSecond` },
  atLeast,
});

export const speculation: Trial = {
  name: 'speculation',
  summary:
    'answers of which drafts from the text so far guess all, half and nothing, each with and without them: what right ones gain and wrong ones cost',
  rival: 'llama-server',
  server: { nParallel: 8, nCtx: 8_192 },
  phases: {
    all: among(one, 1),
    allPlain: among(one, 1, undrafted),
    half: among(two, 1),
    halfPlain: among(two, 1, undrafted),
    nothing: { ...chats(1), requestsPerClient: 2 },
    nothingPlain: { ...chats(1), requestsPerClient: 2, body: undrafted },
    crowd: among(one, 8),
    crowdPlain: among(one, 8, undrafted),
  },
  goals: [
    gain('all', 1.5),
    gain('half', 0.98),
    gain('nothing', 0.98),
    gain('crowd', 0.98),
    ...['all', 'half', 'nothing', 'crowd'].map(parity),
  ],
};
