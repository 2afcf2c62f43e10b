/**
 * The AI SDK, unmodified, runs one list against a model of this node and against each kind of provider. SVC_CLIENTS_MODULES names the folder
 * that its packages lie in; each case is a line of JSON in SVC_CLIENTS_RESULTS.
 */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { KindName } from '../../ts/server/domains/cloud/kinds/kind.ts';
import { post } from '../http.ts';
import { PROVIDERS } from '../providers/dialects.ts';
import { ProviderServer } from '../providers/provider-server.ts';

const { SVC_CLIENTS_URL: url = '', SVC_CLIENTS_RESULTS: results = '', SVC_CLIENTS_MODULES: folder = '' } = process.env;
const only = process.env['SVC_CLIENTS_ONLY'] ?? '';
const { resolve } = createRequire(join(folder, 'package.json'));
// biome-ignore lint/suspicious/noExplicitAny: packages that this checkout does not have
const load = async (name: string): Promise<any> => await import(pathToFileURL(resolve(name)).href);
const { generateText, streamText, tool, jsonSchema, stepCountIs, Output, APICallError } = await load('ai');
const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');

const provider = createOpenAICompatible({
  name: 'svc',
  baseURL: `${url}/v1`,
  apiKey: 'none',
  supportsStructuredOutputs: true,
  includeUsage: true,
});
const schema = {
  type: 'object',
  properties: { q: { type: 'string', enum: ['a'] } },
  required: ['q'],
  additionalProperties: false,
};
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** `says` is what a provider is to answer; a model of this node says what it likes. */
interface Case {
  readonly says: 'words' | 'call' | 'json';
  /** Kinds that refuse it, with the member that they name. */
  readonly refused?: Partial<Record<KindName, string>>;
  /** A model of this node that sees nothing refuses images. */
  readonly isForProviders?: true;
  run(model: string): Promise<void>;
}

const call = (model: string, more: object): Promise<Record<string, never>> =>
  generateText({ model: provider(model), maxRetries: 0, maxOutputTokens: 64, ...more });

const CASES: Record<string, Case> = {
  'generateText gives text, a reason and the usage': {
    says: 'words',
    run: async (model) => {
      const { text, finishReason, usage } = (await call(model, { prompt: 'Name a colour.' })) as Record<string, unknown>;
      assert.equal(typeof text, 'string');
      assert.ok(['stop', 'length'].includes(String(finishReason)));
      assert.ok(Number((usage as { inputTokens: number }).inputTokens) > 0);
    },
  },
  'streamText gives the text in pieces and ends': {
    says: 'words',
    run: async (model) => {
      const stream = streamText({ model: provider(model), prompt: 'Name a colour.', maxOutputTokens: 16, maxRetries: 0 });
      const types = new Set<string>();
      for await (const part of stream.fullStream) types.add(part.type);
      assert.ok(types.has('text-delta') && types.has('finish') && !types.has('error'), [...types].join());
      assert.ok((await stream.usage).outputTokens > 0);
    },
  },
  'a tool is called with its arguments': {
    says: 'call',
    refused: { ollama: 'tool_choice' },
    run: async (model) => {
      const look = tool({ description: 'Looks it up', inputSchema: jsonSchema(schema) });
      const { toolCalls } = await call(model, {
        prompt: 'Go',
        tools: { look },
        toolChoice: 'required',
        stopWhen: stepCountIs(1),
      });
      const [made] = toolCalls as unknown as { toolName: string; input: object }[];
      assert.deepEqual([made?.toolName, made?.input], ['look', { q: 'a' }]);
    },
  },
  'a schema is followed': {
    says: 'json',
    refused: { bedrock: 'response_format' },
    run: async (model) => {
      const { output } = await call(model, { prompt: 'Go', output: Output.object({ schema: jsonSchema(schema) }) });
      assert.deepEqual(output, { q: 'a' });
    },
  },
  'an image is taken': {
    says: 'words',
    isForProviders: true,
    run: async (model) => {
      const content = [
        { type: 'text', text: 'What is it?' },
        { type: 'file', mediaType: 'image/png', data: png },
      ];
      const { text } = await call(model, { messages: [{ role: 'user', content }] });
      assert.equal(typeof text, 'string');
    },
  },
  'an error of the API keeps its status and its sentence': {
    says: 'words',
    run: async (model) => {
      const error = await call(model, { prompt: 'Go', topP: 7 }).then(
        () => undefined,
        (failed: unknown) => failed,
      );
      assert.ok(APICallError.isInstance(error), String(error));
      assert.equal((error as { statusCode: number }).statusCode, 400);
      assert.match(String((error as Error).message), /top_p/);
    },
  },
};

const SAYINGS = {
  words: { texts: ['Red', '.'], finish: 'stop' },
  call: { texts: [], calls: [{ id: 'call_1', name: 'look', arguments: '{"q":"a"}' }], finish: 'tool_calls' },
  json: { texts: ['{"q"', ':"a"}'], finish: 'stop' },
} as const;

async function runAll(who: string, model: string, say?: (says: Case['says']) => void): Promise<void> {
  for (const [name, { says, refused, isForProviders, run }] of Object.entries(CASES)) {
    if ((isForProviders && say === undefined) || !`${who}: ${name}`.includes(only)) continue;
    say?.(says);
    const member = refused?.[who as KindName];
    const work = member === undefined ? run(model) : refusedWith(run(model), member);
    const failure = await work.then(
      () => null,
      (error: Error) => error.message.slice(0, 500),
    );
    appendFileSync(results, `${JSON.stringify({ client: 'AI SDK', case: `${who}: ${name}`, failure, pending: null })}\n`);
  }
}

async function refusedWith(work: Promise<void>, member: string): Promise<void> {
  const error = (await work.then(
    () => undefined,
    (failed: unknown) => failed,
  )) as { statusCode?: number; responseBody?: string };
  assert.equal(error?.statusCode, 400);
  assert.match(String(error.responseBody), new RegExp(`unsupported_by_backend[^]*${member}|${member}[^]*unsupported_by_backend`));
}

const models = (await (await fetch(`${url}/v1/models`)).json()) as {
  data: { id: string; capabilities: string[]; default?: boolean }[];
};
const local =
  models.data.find(({ default: isDefault }) => isDefault) ??
  models.data.find(({ capabilities }) => capabilities.includes('chat'));
await runAll('local', local?.id ?? '');
for (const [kind, { dialect, path, more }] of Object.entries(PROVIDERS)) {
  const server = new ProviderServer(dialect);
  await server.start();
  const model = `${kind}-model`;
  server.models = [model];
  const body = { id: kind, kind, base_url: server.origin + path, ...more, model_filter: { include: [model] } };
  const { status, text } = await post(`${url}/api/v1/cloud/backends`, body);
  assert.equal(status, 201, text);
  const tokens = { prompt: 12, cached: 0, written: 0, completion: 3, reasoning: 0 };
  await runAll(kind, model, (says) => {
    server.say = () => ({ ...SAYINGS[says], tokens });
  });
  server.stop();
}
process.exit(0);
