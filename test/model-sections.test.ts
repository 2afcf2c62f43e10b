/** Two models of a kind, each with a section of its own in svc.toml: what stands there holds for that model alone. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { RandomModelOptions } from '../models/random/random-model.ts';
import { post } from './http.ts';
import { startServer } from './server.ts';

const models = {
  short: { arch: 'llama' },
  long: { arch: 'llama' },
  other: { arch: 'llama' },
  raw: { arch: 'bert', type: 'f32' },
  'of.first': { arch: 'bert', type: 'f32' },
} satisfies Record<string, RandomModelOptions>;

const toml = `
[inference]
ctx = 2048
parallel = 1
threads = 1

[models.short]
ctx = 512

[models.long]
ctx = 4096
gpu_layers = 0

[models.raw]
embedding_norm = -1
pooling = "mean"

[models."of.first"]
pooling = "cls"
`;

t.test('a section holds for its model and no other', async (t) => {
  const folder = t.testdir();
  const config = join(folder, 'svc.toml');
  await writeFile(config, toml);
  const server = await startServer(t, { models, folder, env: { SVC_CONFIG: config } });

  const longest = async (model: string, { url } = server) => {
    const content = 'a word '.repeat(20_000);
    const { status, json } = await post(`${url}/v1/chat/completions`, { model, messages: [{ role: 'user', content }] });
    const { code, n_ctx } = (json?.['error'] ?? {}) as { code?: string; n_ctx?: number };
    t.strictSame([status, code], [400, 'context_length_exceeded'], model);
    return n_ctx;
  };
  t.strictSame([await longest('short'), await longest('long'), await longest('other')], [512, 4096, 2048], 'tokens of context');
  const { data } = (await (await fetch(`${server.url}/v1/models`)).json()) as { data: { id: string; context_length: number }[] };
  const listed = Object.fromEntries(data.map(({ id, context_length: length }) => [id, length]));
  t.match(listed, { short: 512, long: 4_096, other: 2_048 }, 'as the list of models says');

  const vectorOf = async (model: string) => {
    const { json } = await post(`${server.url}/v1/embeddings`, { model, input: 'Once upon a time' });
    const [first] = (json?.['data'] ?? []) as { embedding: number[] }[];
    return first?.embedding ?? [];
  };
  const [raw, first] = [await vectorOf('raw'), await vectorOf('of.first')];
  const length = (vector: number[]) => Math.hypot(...vector);
  t.ok(Math.abs(length(first) - 1) < 1e-4, `${length(first)}`);
  t.ok(length(raw) > 2, `${length(raw)}: as it is`);
  const cosine = raw.reduce((sum, value, i) => sum + value * (first[i] ?? 0), 0) / length(raw);
  t.ok(cosine < 0.99, `${cosine}: pooled in another way`);

  const save = async (key: string, value: string) => {
    const headers = { 'content-type': 'application/json' };
    const address = `${server.url}/api/v1/system/settings/${encodeURIComponent(key)}`;
    return (await fetch(address, { method: 'PUT', headers, body: JSON.stringify({ value }) })).status;
  };
  t.strictSame([await save('models.long.ctx', '1024'), await save('models.of.first.pooling', 'median')], [200, 400]);
  await server.stop();
  const restarted = await startServer(t, { models, folder, env: { SVC_CONFIG: config } });
  t.strictSame([await longest('long', restarted), await longest('short', restarted)], [1024, 512], 'saved in the console');
});
