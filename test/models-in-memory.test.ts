/** Six models and room for three: every request is answered by the model it names, within the memory that was allowed. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import type { RandomModelOptions } from '../models/random/random-model.ts';
import { SeededRandom } from '../models/random/seeded-random.ts';
import { program } from '../ts/cli/run-cli.ts';
import { type HttpAnswer, post, send } from './http.ts';
import { startServer } from './server.ts';
import { iterations } from './test-support/iterations.ts';

const models = {
  'llama-a': { arch: 'llama' },
  'llama-b': { arch: 'llama', type: 'q8_0' },
  'llama-c': { arch: 'llama', type: 'q4_0' },
  phi: { arch: 'phi3' },
  qwen: { arch: 'qwen3', type: 'q8_0' },
  embedder: { arch: 'bert' },
} satisfies Record<string, RandomModelOptions>;
const names = Object.keys(models);
const nRequests = iterations(60, 200, 'SVC_TEST_REQUESTS');
const nAtOnce = 4;
/** Most of them load a model, on a busy machine. */
const REQUEST_LIMIT_MS = 2_000;
const small = { SVC_INFERENCE_CTX: '512', SVC_INFERENCE_PARALLEL: '2', SVC_INFERENCE_THREADS: '1' };

t.setTimeout(120_000 + nRequests * REQUEST_LIMIT_MS);

interface Detail {
  state: string;
  predicted_bytes: number;
  memory_bytes?: number;
}

function ask(url: string, model: string): Promise<HttpAnswer> {
  return model === 'embedder'
    ? post(`${url}/v1/embeddings`, { model, input: 'a few words' })
    : post(`${url}/v1/chat/completions`, { model, max_tokens: 4, messages: [{ role: 'user', content: 'Hi' }] });
}

async function detail(url: string, name: string): Promise<Detail> {
  return (await send(`${url}/api/v1/inference/models/${name}`)).json as unknown as Detail;
}

function details(url: string): Promise<Detail[]> {
  return Promise.all(names.map((name) => detail(url, name)));
}

/** Of all models at one moment, which requests for one model after the other could not tell: meanwhile they come and go. */
async function sumOf(url: string, metric: string, label = ''): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const values = [...metrics.matchAll(new RegExp(`^${metric}\\{[^}]*${label}[^}]*\\} (\\S+)`, 'gm'))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

/** What three of the six take, by prediction. */
async function memoryForThree(t: Test, folder: string): Promise<number> {
  const server = await startServer(t, { models, folder, env: small });
  const predicted = (await details(server.url)).map(({ predicted_bytes }) => predicted_bytes).sort((a, b) => b - a);
  await server.stop();
  t.ok(
    predicted.every((bytes) => bytes > 1_000_000),
    predicted.join(),
  );
  return predicted.slice(0, 3).reduce((sum, bytes) => sum + bytes, 0);
}

t.test(`${nRequests} requests for six models with room for three`, async (t) => {
  const folder = t.testdir();
  const limit = await memoryForThree(t, folder);
  const server = await startServer(t, { models, folder, env: { ...small, SVC_INFERENCE_MAX_LOADED_BYTES: String(limit) } });
  const random = new SeededRandom(11);
  const wrong: string[] = [];
  let nLeft = nRequests;
  const client = async () => {
    while (nLeft-- > 0) {
      const name = names[random.integer(names.length)] as string;
      const { status, json, text } = await ask(server.url, name);
      if (status !== 200 || json?.['model'] !== name) wrong.push(`${name}: ${status} ${text}`);
      const used = await sumOf(server.url, 'svc_inference_model_memory_bytes', 'kind="used"');
      if (used > limit) wrong.push(`${used} bytes of ${limit}`);
    }
  };
  await Promise.all(Array.from({ length: nAtOnce }, client));
  t.strictSame(wrong, []);
  const usedAtEnd = (await details(server.url)).reduce((sum, { memory_bytes = 0 }) => sum + memory_bytes, 0);
  t.equal(await sumOf(server.url, 'svc_inference_model_memory_bytes', 'kind="used"'), usedAtEnd, 'the models say the same');
  const nLoads = await sumOf(server.url, 'svc_inference_model_loads_total');
  const nUnloads = await sumOf(server.url, 'svc_inference_model_unloads_total');
  t.ok(nLoads > names.length && nUnloads >= nLoads - names.length, `${nLoads} loads, ${nUnloads} unloads`);
  for (const { predicted_bytes, memory_bytes } of await details(server.url)) {
    if (memory_bytes === undefined) continue;
    t.ok(Math.abs(memory_bytes - predicted_bytes) <= 0.05 * memory_bytes, `predicted ${predicted_bytes}, used ${memory_bytes}`);
  }
});

t.test('a model that can never fit is refused with the figures, and health says why the default is missing', async (t) => {
  const server = await startServer(t, {
    models: { 'llama-a': models['llama-a'] },
    env: { ...small, SVC_INFERENCE_MAX_LOADED_BYTES: '1000000' },
  });
  const { status, json } = await ask(server.url, 'llama-a');
  t.equal(status, 503);
  t.match(json, { error: { code: 'out_of_memory' }, detail: /needs \d+ bytes.*may take 1000000/ });
  t.match((await send(`${server.url}/health`)).json, {
    status: 'degraded',
    reasons: [{ code: 'default_model_failed', detail: /needs \d+ bytes/ }],
  });
});

t.test('a pinned model stays, an unpinned one is evicted', async (t) => {
  const server = await startServer(t, {
    models: { 'llama-a': models['llama-a'], 'llama-b': models['llama-b'], 'llama-c': models['llama-c'] },
    env: { ...small, SVC_INFERENCE_MAX_LOADED_MODELS: '2' },
  });
  const state = async (name: string) => (await detail(server.url, name)).state;
  // The server is ready while its default model loads.
  await ask(server.url, 'llama-a');
  await ask(server.url, 'llama-b');
  const pin = (isPinned: boolean) =>
    send(`${server.url}/api/v1/inference/models/llama-b/pin`, { method: 'PUT', body: { pinned: isPinned } });
  const pinned = await pin(true);
  t.match(pinned, { status: 200, json: { pinned: true, state: 'loaded' } });
  t.equal((await ask(server.url, 'llama-c')).status, 503, 'both places are pinned');
  await pin(false);
  t.equal((await ask(server.url, 'llama-c')).status, 200);
  t.strictSame(
    [await state('llama-a'), await state('llama-b')],
    ['loaded', 'unloaded'],
    'the default model is pinned from the start',
  );
});

t.test('svc models load and unload', async (t) => {
  const server = await startServer(t, { models: { 'llama-a': models['llama-a'], 'llama-b': models['llama-b'] }, env: small });
  const svc = async (...words: string[]) => {
    const args = [program, ...words, '--url', server.url, '--json'];
    return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as unknown;
  };
  t.match(await svc('models', 'load', 'llama-b', '--pin'), {
    id: 'llama-b',
    state: 'loaded',
    pinned: true,
    memory_bytes: Number,
  });
  t.match(await svc('models', 'unload', 'llama-b'), { id: 'llama-b', state: 'unloaded' });
  await t.rejects(svc('models', 'load', 'nobody'), { code: 4 });
});
