/** How much of a request a model takes: its whole context, tools only where it can use them, and texts that are longer than an embedder's context. */
import t from 'tap';
import type { RandomModelOptions } from '../models/random/random-model.ts';
import { post } from './http.ts';
import { startServer } from './server.ts';

t.setTimeout(240_000);

const models = {
  // Its automatic context is shared by eight requests; one of them may have all of the model's own.
  roomy: { arch: 'llama', nContext: 32_768 },
  narrow: { arch: 'llama', nContext: 1_024 },
  base: { arch: 'llama', isBase: true },
  embedder: { arch: 'bert', nContext: 512 },
} satisfies Record<string, RandomModelOptions>;

const server = await startServer(t, { models });
const CHAT = `${server.url}/v1/chat/completions`;
const messages = [{ role: 'user', content: 'Name three colours.' }];

interface ModelEntry {
  readonly id: string;
  readonly context_length: number;
  readonly trained_context_length: number;
}

async function entryOf(id: string): Promise<ModelEntry | undefined> {
  const { data } = (await (await fetch(`${server.url}/v1/models`)).json()) as { data: ModelEntry[] };
  return data.find((entry) => entry.id === id);
}

t.test('a request may have the whole context of a model, as the list of models says before and after it is loaded', async (t) => {
  t.match(await entryOf('narrow'), { context_length: 1_024, trained_context_length: 1_024 });
  t.match(await entryOf('roomy'), { context_length: 32_768, trained_context_length: 32_768 });
  const content = 'colour '.repeat(12_000);
  const { status, json } = await post(CHAT, { model: 'roomy', messages: [{ role: 'user', content }], max_tokens: 2 });
  t.equal(status, 200);
  t.ok(Number((json?.['usage'] as { prompt_tokens?: number } | undefined)?.prompt_tokens) > 12_000);
  t.match(await entryOf('roomy'), { context_length: 32_768 });
  const refused = await post(CHAT, { model: 'roomy', messages: [{ role: 'user', content: content.repeat(3) }] });
  t.match(refused, { status: 400, json: { error: { code: 'context_length_exceeded', n_ctx: 32_768 } } });

  /** A chat page sends them so whose user has chosen none: dozens, with long descriptions. */
  const tools = Array.from({ length: 36 }, (_, i) => ({
    type: 'function',
    function: {
      name: `tool_${i}`,
      description: `Looks at note ${i} of the user. ${'It says what it found, and where that was written. '.repeat(6)}`,
      parameters: { type: 'object', properties: { note: { type: 'string', description: 'What is looked for.' } } },
    },
  }));

  for (const stream of [false, true])
    t.test(`36 tools: each model answers, and a header says where they are left out, with stream: ${stream}`, async (t) => {
      for (const [model, why] of [
        ['roomy', null],
        ['narrow', 'too_long'],
        ['base', 'unsupported'],
      ] as const) {
        const { status, headers, text } = await post(CHAT, { model, messages, tools, max_tokens: 3, stream });
        t.equal(status, 200, model);
        t.notMatch(text, /"error"/, model);
        t.equal(headers.get('x-svc-tools-ignored'), why, model);
      }
    });

  t.test('a call that is forced is made by a model of the family that can, or refused', async (t) => {
    const forced = { messages, tools, tool_choice: 'required', max_tokens: 3 };
    t.match(await post(CHAT, { ...forced, model: 'narrow' }), {
      status: 400,
      json: { error: { code: 'context_length_exceeded' } },
    });
    const { status, headers, json } = await post(CHAT, { ...forced, model: 'base' });
    t.strictSame([status, json?.['model']], [200, 'roomy'], 'one of its family that can');
    t.equal(headers.get('x-svc-model-substituted'), 'base -> roomy');
  });
});

const EMBEDDINGS = `${server.url}/v1/embeddings`;

function vectorsOf(json: Record<string, unknown> | undefined): number[][] {
  return ((json?.['data'] ?? []) as { embedding: number[] }[]).map(({ embedding }) => embedding);
}

t.test('a text that is longer than the context is cut and named, whatever stands beside it', async (t) => {
  // A page of 769 Chinese characters, as a chat page cuts files: each is a token or two.
  const page = '灯塔建于一八九三年由渔民建造守塔人住在旁边的小屋里每天晚上点灯'.repeat(26).slice(0, 769);
  const { status, headers, json } = await post(EMBEDDINGS, { model: 'embedder', input: ['short', page, 'also short'] });
  t.equal(status, 200);
  t.equal(headers.get('x-svc-truncated'), '1');
  const vectors = vectorsOf(json);
  t.equal(vectors.length, 3);
  const alone = await post(EMBEDDINGS, { model: 'embedder', input: 'short' });
  t.equal(alone.headers.get('x-svc-truncated'), null);
  const [same] = vectorsOf(alone.json);
  const cosine = (same ?? []).reduce((sum, value, i) => sum + value * (vectors[0]?.[i] ?? 0), 0);
  t.ok(cosine > 0.999, `${cosine}`);
});

t.test('where nothing may be cut, the refusal names the text', async (t) => {
  const input = ['short', 'word '.repeat(2_000)];
  const refused = await post(EMBEDDINGS, { model: 'embedder', input, truncate: false });
  t.match(refused, { status: 400, json: { error: { code: 'context_length_exceeded', param: 'input[1]' } } });
  t.match(await post(EMBEDDINGS, { model: 'embedder', input, truncate: true }), { status: 200 });
  t.match(await post(EMBEDDINGS, { model: 'embedder', input, truncate: 'end' }), {
    status: 400,
    json: { error: { param: 'truncate' } },
  });
});
