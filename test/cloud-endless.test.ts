/** Providers that never end: their answers are ended where docs/admin/cloud.md says, and the client is told. */
import t, { type Test } from 'tap';
import type { KindName } from '../ts/server/domains/cloud/kinds/kind.ts';
import { post, send } from './http.ts';
import { PROVIDERS } from './providers/dialects.ts';
import { BILLED, type ProviderServer, startProvider } from './providers/provider-server.ts';
import { startServer } from './server.ts';

t.setTimeout(240_000);

const { url } = await startServer(t, { models: {}, env: { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1' } });
const PIECE = 'x'.repeat(512 * 1024);
const MODELS = ['m', 'm-embed', 'm-rerank'];
const MOST_BYTES = 40 * 2 ** 20;

async function provide(t: Test, kind: KindName, prepare?: (provider: ProviderServer) => void): Promise<ProviderServer> {
  const { dialect, path, more } = PROVIDERS[kind];
  const provider = await startProvider(t, dialect);
  provider.models = MODELS;
  prepare?.(provider);
  const model_filter = { include: MODELS };
  const body = { id: 'far', kind, base_url: provider.origin + path, model_filter, ...more };
  const made = await post(`${url}/api/v1/cloud/backends`, body);
  if (made.status !== 201) throw new Error(made.text);
  t.teardown(() => send(`${url}/api/v1/cloud/backends/far`, { method: 'DELETE' }));
  return provider;
}

const chat = (more: object = {}) =>
  post(`${url}/v1/chat/completions`, { model: 'm', messages: [{ role: 'user', content: 'Go on.' }], ...more });

const WORDS = { texts: ['a', 'b'], tokens: BILLED };
const SAYS = {
  text: { ...WORDS, texts: ['a', PIECE] },
  reasoning: { ...WORDS, reasoning: PIECE },
  arguments: { texts: ['a'], tokens: BILLED, calls: [{ id: 'c', name: 'look', arguments: `{"q":"${PIECE}"}` }] },
  signature: { ...WORDS, reasoning: 'r', signature: PIECE },
  'signed call': { texts: ['a'], tokens: BILLED, calls: [{ id: 'c', name: 'look', arguments: '{}' }], signature: PIECE },
} as const;
const SAID: Readonly<Record<KindName, readonly (keyof typeof SAYS)[]>> = {
  openai: ['text', 'reasoning', 'arguments'],
  azure: ['text'],
  anthropic: ['text', 'reasoning', 'arguments', 'signature'],
  gemini: ['text', 'reasoning', 'signed call'],
  bedrock: ['text', 'arguments', 'signature'],
  ollama: ['text', 'reasoning', 'arguments'],
};

for (const [kind, names] of Object.entries(SAID) as [KindName, (keyof typeof SAYS)[]][])
  t.test(`${kind}: an answer without an end is ended`, async (t) => {
    const provider = await provide(t, kind);
    for (const name of names) {
      provider.say = () => SAYS[name];
      provider.script = ['endless'];
      provider.nEndlessBytes = 0;
      const { status, text } = await chat();
      const sentence = /The provider of m .*(more than 16 MiB|more than 256 calls|much, and says nothing)/;
      t.match({ status, text }, { status: 502, text: sentence }, `${name}: ${text.slice(0, 300)}`);
      t.match(text, /provider_stream_cut/, name);
      t.ok(provider.nEndlessBytes < MOST_BYTES, `${name}: ${provider.nEndlessBytes} bytes were taken`);
    }
    provider.say = () => WORDS;
    t.match(await chat(), { status: 200 }, 'and the next one is answered');
  });

t.test('a stream gets the error behind what was said, and no end as if it were whole', async (t) => {
  const provider = await provide(t, 'openai');
  for (const [fault, sentence] of [
    ['endless', /more than 16 MiB/],
    ['endless-line', /a line is too long/],
  ] as const) {
    provider.say = () => (fault === 'endless' ? SAYS.text : WORDS);
    provider.script = [fault];
    const { status, text } = await chat({ stream: true });
    t.equal(status, 200);
    t.match(text.slice(-1_000), /provider_stream_cut/, fault);
    t.match(text.slice(-1_000), sentence, fault);
    t.notMatch(text.slice(-1_000), /\[DONE\]|"finish_reason":"stop"/, fault);
  }
});

t.test('vectors and scores without an end are refused', async (t) => {
  const provider = await provide(t, 'openai');
  t.equal((await post(`${url}/v1/embeddings`, { model: 'm-embed', input: 'a' })).status, 200);
  provider.isEndlessElsewhere = true;
  for (const [path, body] of [
    ['/v1/embeddings', { model: 'm-embed', input: 'a' }],
    ['/v1/rerank', { model: 'm-rerank', query: 'q', documents: ['a'] }],
  ] as const) {
    // A breaker that has opened is closed by a change of the backend.
    await send(`${url}/api/v1/cloud/backends/far`, { method: 'PATCH', body: { weight: path.length } });
    provider.nEndlessBytes = 0;
    const answer = await post(url + path, body);
    t.match(answer, { status: 502, json: { error: { code: 'provider_unreachable' } } }, answer.text);
    t.match(answer.text, /the answer has more than \d{6} bytes/, 'less than a MiB for one input');
    t.ok(provider.nEndlessBytes < MOST_BYTES, `${provider.nEndlessBytes} bytes were taken`);
  }
});

t.test('a list of models without an end makes the backend unhealthy', async (t) => {
  const provider = await provide(t, 'openai', (provider) => {
    provider.isEndlessElsewhere = true;
  });
  for (;;) {
    const { json } = await send(`${url}/api/v1/cloud/backends/far`);
    const reason = json?.['serving_state_reason'] as { detail: string } | null;
    if (reason !== null) {
      t.match(reason.detail, /more than 8388608 bytes/);
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.ok(provider.nEndlessBytes < MOST_BYTES);
});
