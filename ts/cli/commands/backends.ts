/** `svc backend` and `svc route`: models of providers behind a running node. */
import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import type { Answer, Body } from '../../client/client.ts';
import { usageError } from '../cli-error.ts';
import type { Options } from '../command.ts';
import { type Columns, tableOf } from '../format.ts';
import { listCommand, requestCommand } from '../server-command.ts';

type Backend = Answer<'GET /api/v1/cloud/backends/{id}'>;
type NewBackend = Body<'POST /api/v1/cloud/backends'>;
type Route = Answer<'GET /api/v1/cloud/routes/{id}'>;

const id = { name: 'ID', help: 'id of the backend, as `svc backend list` shows it' };
const route = { name: 'NAME', help: 'the name that clients ask for' };

const columns: Columns<Backend> = {
  ID: (one) => one.id,
  KIND: ({ kind }) => kind,
  STATE: stateOf,
  MODELS: ({ models }) => models.length,
  KEY: ({ key_present: isThere, api_key_env: variable }) => (isThere ? (variable ?? 'sealed') : null),
  ADDRESS: ({ base_url: url }) => url,
};

/** Says in words what it does, and why it does not. */
function stateOf({ serving_state: state, serving_state_reason: reason }: Backend): string {
  return reason === null ? state : `${state}: ${reason.code}${reason.status === undefined ? '' : ` (${reason.status})`}`;
}

function shownBackend(backend: Backend): string {
  const { serving_state_reason: reason, models } = backend;
  const names = models.map((offered) => (offered.id === offered.model ? offered.id : `${offered.id} (${offered.model})`));
  return [tableOf(columns, [backend]), ...(reason === null ? [] : [`since ${reason.since}: ${reason.detail}`]), ...names].join(
    '\n',
  );
}

export const backendList = listCommand({
  words: ['backend', 'list'],
  summary: 'List the backends of this node',
  examples: ['svc backend list'],
  route: 'GET /api/v1/cloud/backends',
  columns,
  empty: 'no backends; see `svc help backend add`',
});

export const backendElsewhere = listCommand({
  words: ['backend', 'elsewhere'],
  summary: 'List the backends of other nodes of the database, which have their keys',
  examples: ['svc backend elsewhere'],
  route: 'GET /api/v1/cloud/backends/elsewhere',
  columns: {
    ID: (one) => one.id,
    NODE: ({ node }) => node,
    STATE: ({ node_is_lost: isLost }) => (isLost ? 'lost: `svc backend take` its node' : 'runs'),
    KIND: ({ kind }) => kind,
    ADDRESS: ({ base_url: url }) => url,
  },
  empty: 'no other node has backends',
});

export const backendTake = requestCommand({
  words: ['backend', 'take'],
  summary: 'Take over the backends, routes and prices of a node that is lost',
  positionals: [{ name: 'NODE', help: 'id of the node, as `svc backend elsewhere` shows it' }],
  examples: ['svc backend take 0b5e7f2a-1c1f-4b5e-9d53-5f2f1d0c7a11'],
  route: 'POST /api/v1/cloud/takeover',
  given: ({ positionals: [node = ''] }) => ({ body: { node } }),
  text: ({ taken, deleted }) =>
    [
      `taken: ${taken.join(' ') || 'none'}; \`svc backend list\` shows which of them need their key: \`svc backend key\``,
      ...(deleted.length === 0 ? [] : [`deleted, since this node has backends of the name: ${deleted.join(' ')}`]),
    ].join('\n'),
});

export const backendShow = requestCommand({
  words: ['backend', 'show'],
  summary: 'Show a backend, what it offers and why it does not work',
  positionals: [id],
  examples: ['svc backend show openai-main'],
  route: 'GET /api/v1/cloud/backends/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: shownBackend,
});

/** A key is never an argument: the list of processes shows those to everybody. */
const keyOptions = {
  'key-stdin': { kind: 'flag', help: 'read the key from standard input, one line' },
  'key-file': { kind: 'text', value: 'FILE', help: 'read the key from a file' },
  'key-env': { kind: 'text', value: 'NAME', help: 'the variable of the server that has the key, for example OPENAI_API_KEY' },
} as const satisfies Options;

export const backendAdd = requestCommand({
  words: ['backend', 'add'],
  summary: 'Register a provider; its models can be asked as if they ran here',
  positionals: [{ name: 'ID', help: 'a name for it' }],
  options: {
    kind: {
      kind: 'choice',
      choices: ['openai', 'azure', 'anthropic', 'gemini', 'bedrock', 'ollama'],
      help: 'what it speaks (default: openai)',
    },
    address: {
      kind: 'text',
      value: 'URL',
      help: 'its address, with /v1 for what speaks OpenAI’s API (default: the provider’s own)',
    },
    preset: {
      kind: 'choice',
      choices: ['openai', 'openrouter', 'vllm', 'sglang', 'llama-server', 'svc'],
      help: 'of the kind openai: what it is',
    },
    ...keyOptions,
    'api-version': { kind: 'text', value: 'VERSION', help: 'of the kind azure, for example 2024-10-21' },
    region: { kind: 'text', value: 'REGION', help: 'of the kind bedrock, for example eu-central-1' },
    model: {
      kind: 'texts',
      value: 'NAME',
      help: 'a model that is offered, * for any characters; may be repeated (default: all)',
    },
    alias: { kind: 'texts', value: 'NAME=MODEL', help: 'another name for a model; may be repeated' },
    priority: { kind: 'integer', value: 'N', min: -1000, max: 1000, help: 'the smaller is asked first (default 0)' },
  },
  examples: [
    'svc backend add openai-main --key-env OPENAI_API_KEY --model "gpt-*" --alias fast=gpt-4.1-mini',
    'svc backend add gpu-box --preset vllm --address http://10.0.0.7:8000/v1',
    'svc backend add claude --kind anthropic --key-stdin < key.txt',
  ],
  route: 'POST /api/v1/cloud/backends',
  given: async ({ positionals: [id = ''], options }) => {
    const body: NewBackend = {
      id,
      kind: options.kind ?? 'openai',
      base_url: options.address,
      preset: options.preset,
      ...(await givenKey(options)),
      api_version: options['api-version'],
      region: options.region,
      priority: options.priority,
      model_filter: { ...(options.model && { include: options.model }), alias: aliasesOf(options.alias ?? []) },
    };
    return { body };
  },
  text: (backend) => `${backend.id} is registered; \`svc backend show ${backend.id}\` shows its models`,
});

export const backendKey = requestCommand({
  words: ['backend', 'key'],
  summary: 'Give a backend another key',
  positionals: [id],
  options: keyOptions,
  examples: ['svc backend key openai-main --key-stdin < key.txt'],
  route: 'PATCH /api/v1/cloud/backends/{id}',
  given: async ({ positionals: [id = ''], options }) => {
    const key = await givenKey(options);
    if (Object.keys(key).length === 0) throw usageError('no key is named', 'give --key-stdin, --key-file or --key-env');
    return { params: { id }, body: key };
  },
  text: ({ id: changed }) => `${changed} has another key`,
});

export const backendRecheck = requestCommand({
  words: ['backend', 'recheck'],
  summary: 'Ask a backend for one token, to see whether it works',
  positionals: [id],
  examples: ['svc backend recheck openai-main'],
  route: 'POST /api/v1/cloud/backends/{id}/recheck',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: (backend) => {
    const { milliseconds: ms, cost_micros: cost, currency } = backend.recheck;
    return `${shownBackend(backend)}\n${ms} ms, ${cost === null ? 'of unknown price' : `${cost / 1e6} ${currency}`}`;
  },
  exit: ({ serving_state: state }) => (state === 'ok' ? 'ok' : 'failed'),
});

export const backendEnable = requestCommand({
  words: ['backend', 'enable'],
  summary: 'Use a backend again',
  positionals: [id],
  examples: ['svc backend enable openai-main'],
  route: 'PATCH /api/v1/cloud/backends/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id }, body: { enabled: true } }),
  text: ({ id: changed }) => `${changed} is enabled`,
});

export const backendDisable = requestCommand({
  words: ['backend', 'disable'],
  summary: 'Ask a backend for nothing more, and keep it with its key',
  positionals: [id],
  examples: ['svc backend disable openai-main'],
  route: 'PATCH /api/v1/cloud/backends/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id }, body: { enabled: false } }),
  text: ({ id: changed }) => `${changed} is disabled`,
});

export const backendRm = requestCommand({
  words: ['backend', 'rm'],
  summary: 'Delete a backend with its key',
  positionals: [id],
  examples: ['svc backend rm openai-main'],
  route: 'DELETE /api/v1/cloud/backends/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: (_, { positionals: [id] }) => `${id} is deleted`,
  record: (_, { positionals: [id] }) => ({ id, deleted: true }),
});

const routeColumns: Columns<Route> = {
  NAME: (one) => one.id,
  STRATEGY: ({ strategy }) => strategy,
  TARGETS: ({ targets }) => targets.map(({ backend, model }) => `${backend}:${model}`).join(' '),
  FALLBACKS: ({ fallbacks }) => fallbacks.join(' ') || null,
};

export const routeList = listCommand({
  words: ['route', 'list'],
  summary: 'List the names that stand for models of several backends',
  examples: ['svc route list'],
  route: 'GET /api/v1/cloud/routes',
  columns: routeColumns,
  empty: 'no routes',
});

export const routeSet = requestCommand({
  words: ['route', 'set'],
  summary: 'Set which models a name stands for',
  positionals: [route],
  options: {
    target: { kind: 'texts', value: 'BACKEND:MODEL', help: 'in the order in which they are asked; may be repeated' },
    fallback: {
      kind: 'texts',
      value: 'MODEL',
      help: 'what answers when no target does, also a model of this node; may be repeated',
    },
    strategy: {
      kind: 'choice',
      choices: ['priority', 'weighted', 'latency', 'cost'],
      help: 'which target is asked first (default: priority)',
    },
    'hedge-ms': {
      kind: 'integer',
      value: 'MS',
      min: 1,
      max: 600_000,
      help: 'ask a second one when the first says nothing for so long',
    },
  },
  examples: ['svc route set best --target openai-main:gpt-4.1 --target claude:claude-sonnet-4-5 --fallback qwen3-4b-q4_k_m'],
  route: 'PUT /api/v1/cloud/routes/{id}',
  given: ({ positionals: [id = ''], options: { target = [], fallback, strategy = 'priority', 'hedge-ms': hedge } }) => {
    // Of another strategy, all of them are equal.
    const targets = target.map((text, i) => ({ ...targetOf(text), priority: strategy === 'priority' ? i : 0 }));
    return { params: { id }, body: { targets, strategy, fallbacks: fallback, hedge_ms: hedge } };
  },
  text: (set) => tableOf(routeColumns, [set]),
});

export const routeRm = requestCommand({
  words: ['route', 'rm'],
  summary: 'Delete a route',
  positionals: [route],
  examples: ['svc route rm best'],
  route: 'DELETE /api/v1/cloud/routes/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: (_, { positionals: [id] }) => `${id} is deleted`,
  record: (_, { positionals: [id] }) => ({ id, deleted: true }),
});

interface GivenKey {
  'key-stdin'?: boolean | undefined;
  'key-file'?: string | undefined;
  'key-env'?: string | undefined;
}

async function givenKey(options: GivenKey): Promise<{ key?: string; api_key_env?: string }> {
  const { 'key-stdin': isTyped, 'key-file': file, 'key-env': variable } = options;
  if ([isTyped, file, variable].filter(Boolean).length > 1)
    throw usageError('several keys are named', 'give one of --key-stdin, --key-file, --key-env');
  if (variable !== undefined) return { api_key_env: variable };
  if (isTyped) return { key: (await readAll(process.stdin)).trim() };
  return file === undefined ? {} : { key: readFileSync(file, 'utf8').trim() };
}

function aliasesOf(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [name, ...model] = text.split('=');
      if (!name || model.length === 0) throw usageError(`"${text}" is no alias`, 'write NAME=MODEL');
      return [name, model.join('=')];
    }),
  );
}

/** Names of models may have colons, and those of backends have none. */
function targetOf(text: string): { backend: string; model: string } {
  const at = text.indexOf(':');
  if (at < 1) throw usageError(`"${text}" is no target`, 'write BACKEND:MODEL');
  return { backend: text.slice(0, at), model: text.slice(at + 1) };
}
